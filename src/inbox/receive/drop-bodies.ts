/**
 * Drops bodies of webhooks that nothing was ever found for. A dropped body's row stays, with its hash: the same bytes are
 * still a repeat. Its items stay too, with what they name and claim, so what the ledger learns later still finds them;
 * only a body that named more than ITEMS_KEPT_MAX loses those.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import { quarantineDropped } from '../../metrics/metrics.ts';
import { FIRST_IDS } from './plan-shows.ts';

/** Short updates: nobody waits long for a lock. */
const BATCH_ROWS = 200;
const BATCHES_MAX = 50;
const SENDERS_MAX = 20;
/** A genuine body names a few. */
const ITEMS_KEPT_MAX = FIRST_IDS;

/**
 * What may be dropped, in this order: bodies that name no transaction; bodies whose transactions the provider denied;
 * bodies that wait, all of whose first ids it denied so far. A body is denied only once each of its first ids was: one
 * that nobody asked for, as its sender could pay for no show, may be genuine.
 */
export const DROPPABLE = ['garbage', 'denied', 'unproven'] as const;
export type Droppable = (typeof DROPPABLE)[number];

/** One item of a webhook suffices. As a scalar: an EXISTS may be turned into a join that reads all items ever kept. */
const item = (condition: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`((SELECT 1 FROM webhook_items WHERE webhook_items.webhook_seq = webhooks.seq AND ${condition} LIMIT 1) IS NOT NULL)`;
const KEYED = sql`(transaction_id IS NOT NULL OR reference IS NOT NULL OR extra_hash IS NOT NULL)`;
const HAS_KEY = item(KEYED);
const HAS_FOUND = item(sql`resolved_id IS NOT NULL`);
const HAS_DENIED = item(sql`misses > 0`);
const HAS_UNASKED = item(sql`${KEYED} AND misses = 0 AND position < ${sql.lit(FIRST_IDS)}`);
/** Ambiguous or unreadable: there is such a transaction. */
const HAS_DOUBTFUL = item(sql`webhook_items.reason NOT IN ('unknown_at_provider', 'no_key')`);
const DENIED = sql<boolean>`${HAS_DENIED} AND NOT ${HAS_UNASKED} AND NOT ${HAS_FOUND} AND NOT ${HAS_DOUBTFUL}`;

const CONDITIONS: Record<Droppable, RawBuilder<boolean>> = {
  // one that made the database fail has no items yet: it may be genuine
  garbage: sql<boolean>`webhooks.state = 'quarantined' AND webhooks.reason NOT IN ('not_taken_apart', 'too_many_items') AND NOT ${HAS_KEY}`,
  denied: sql<boolean>`webhooks.state = 'quarantined' AND ${DENIED}`,
  unproven: sql<boolean>`webhooks.state = 'pending' AND ${DENIED}`,
};

/**
 * Drops bodies of one kind until so many bytes are gone, of the sender that holds most of them first, the oldest first.
 * @returns the bytes that went; fewer where there are none left, or the signal came.
 */
export async function dropBodies(context: Context, what: Droppable, bytes: number): Promise<number> {
  let dropped = 0;
  let batches = 0;
  for (const sender of await findHeaviest(context, what)) {
    for (; dropped < bytes && batches < BATCHES_MAX && !context.signal.aborted; batches++) {
      const went = await dropOldest(context, { what, sender, bytes: bytes - dropped });
      if (went === 0) break;
      dropped += went;
    }
  }
  return dropped;
}

/** Asked once: the sum reads the index of all that is kept. */
async function findHeaviest(context: Context, what: Droppable): Promise<string[]> {
  const rows = await selectLargestSenders(context.db, what).execute();
  return rows.map((row) => row.source_address);
}

export function selectLargestSenders(db: Reader, what: Droppable) {
  return selectKept(db, what)
    .select('source_address')
    .groupBy('source_address')
    .orderBy(sql`SUM(body_bytes)`, 'desc')
    .limit(SENDERS_MAX);
}

/** The oldest of a sender. */
export function selectOldestBodies(db: Reader, what: Droppable, sender: string) {
  return selectKept(db, what).select('seq').where('source_address', '=', sender).orderBy('seq').limit(BATCH_ROWS);
}

/** By the index `webhooks_kept`: neither bodies nor dropped rows are read. */
function selectKept(db: Reader, what: Droppable) {
  return db.selectFrom('webhooks').where(CONDITIONS[what]).where('dropped_at', 'is', null);
}

type Share = { what: Droppable; sender: string; bytes: number };

async function dropOldest(context: Context, { what, sender, bytes }: Share): Promise<number> {
  // found without locks, which would be on all that was passed over; then locked, and asked again
  const found = await selectOldestBodies(context.db, what, sender).execute();
  if (found.length === 0) return 0;
  return await transact(context.db, async (trx) => {
    const rows = await selectKept(trx, what)
      .select(['seq', 'items', 'body_bytes as bytes'])
      .where(
        'seq',
        'in',
        found.map(({ seq }) => seq),
      )
      .orderBy('seq')
      .forUpdate()
      .skipLocked()
      .execute();
    let went = 0;
    const taken = rows.filter((row) => {
      if (went >= bytes) return false;
      went += row.bytes;
      return true;
    });
    if (taken.length === 0) return 0;
    const seqs = taken.map(({ seq }) => seq);
    await clearBodies(trx, seqs, context.clock.now());
    const large = taken.filter(({ items }) => items > ITEMS_KEPT_MAX).map(({ seq }) => seq);
    if (what === 'denied' && large.length > 0)
      await trx.deleteFrom('webhook_items').where('webhook_seq', 'in', large).execute();
    quarantineDropped.inc(taken.length);
    return went;
  });
}

/** Takes the bytes of these webhooks away, and leaves everything else. */
export async function clearBodies(db: Pick<Context['db'], 'updateTable'>, seqs: number[], now: Date): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ body: Buffer.alloc(0), dropped_at: now })
    .where('seq', 'in', seqs)
    .execute();
}
