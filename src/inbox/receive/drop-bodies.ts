/**
 * Drops bodies of webhooks that no transaction was found for. The row of a dropped body stays with its hash, so the same
 * bytes are still a repeat. Its items stay too, with their keys and claims: the ledger can still learn them, and
 * `reprocess` works. A body with more than ITEMS_KEPT_MAX items loses the others; if the provider denied it, it loses all.
 */

import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { seqsOf } from '../../domain/lists.ts';
import { quarantineDropped } from '../../metrics/metrics.ts';
import { findLastHits } from './charge-senders.ts';
import { nameSender } from './name-sender.ts';
import { FIRST_IDS } from './plan-shows.ts';

/** Small, so that each UPDATE holds its locks for a short time. */
const BATCH_ROWS = 200;
const BATCHES_MAX = 50;
const SENDERS_MAX = 20;
/** A genuine body names a few transactions. */
const ITEMS_KEPT_MAX = FIRST_IDS;

/**
 * Kinds of bodies that may be dropped, in this order:
 * - garbage: names no transaction.
 * - denied: the provider answered 404 for each of its first ids.
 * - unasked: unknown at the end of the grace, but not every first id was asked for, as its sender could pay for no show.
 *   It may be genuine, so its first keys stay.
 * - too_many_items: none of its items are stored. It is dropped only if its sender has no hit on record.
 * - unproven: still pending, and the provider denied each of its first ids so far.
 */
export const DROPPABLE = ['garbage', 'denied', 'unasked', 'too_many_items', 'unproven'] as const;
export type Droppable = (typeof DROPPABLE)[number];

/** Whether any item of the webhook fulfils a condition. A scalar: the optimizer may turn EXISTS into a join over all items. */
const item = (condition: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`((SELECT 1 FROM webhook_items WHERE webhook_items.webhook_seq = webhooks.seq AND ${condition} LIMIT 1) IS NOT NULL)`;
const KEYED = sql`(transaction_id IS NOT NULL OR reference IS NOT NULL OR extra_hash IS NOT NULL)`;
const HAS_KEY = item(KEYED);
const HAS_FOUND = item(sql`resolved_id IS NOT NULL`);
const HAS_DENIED = item(sql`misses > 0`);
const HAS_UNASKED = item(sql`${KEYED} AND misses = 0 AND position < ${sql.lit(FIRST_IDS)}`);
/** Ambiguous or unreadable: the provider has such a transaction. */
const HAS_DOUBTFUL = item(sql`webhook_items.reason NOT IN ('unknown_at_provider', 'no_key')`);
const UNKNOWN = sql<boolean>`NOT ${HAS_FOUND} AND NOT ${HAS_DOUBTFUL}`;
const DENIED = sql<boolean>`${HAS_DENIED} AND NOT ${HAS_UNASKED} AND ${UNKNOWN}`;

const CONDITIONS: Record<Droppable, RawBuilder<boolean>> = {
  // a webhook that made the database fail has no items yet, and may be genuine
  garbage: sql<boolean>`webhooks.state = 'quarantined' AND webhooks.reason NOT IN ('not_taken_apart', 'too_many_items') AND NOT ${HAS_KEY}`,
  denied: sql<boolean>`webhooks.state = 'quarantined' AND ${DENIED}`,
  unasked: sql<boolean>`webhooks.state = 'quarantined' AND ${HAS_KEY} AND ${UNKNOWN}`,
  too_many_items: sql<boolean>`webhooks.state = 'quarantined' AND webhooks.reason = 'too_many_items'`,
  unproven: sql<boolean>`webhooks.state = 'pending' AND ${DENIED}`,
};

/**
 * Drops bodies of one kind until this many bytes are free: of the sender that holds most of them first, oldest first.
 * @returns the bytes dropped; fewer than asked for where none are left, or the signal came.
 */
export async function dropBodies(context: Context, kind: Droppable, bytes: number): Promise<number> {
  let dropped = 0;
  let batches = 0;
  for (const sender of await findLargestSenders(context, kind)) {
    for (; dropped < bytes && batches < BATCHES_MAX && !context.signal.aborted; batches++) {
      const batchBytes = await dropOldest(context, { kind, sender, bytes: bytes - dropped });
      if (batchBytes === 0) break;
      dropped += batchBytes;
    }
  }
  return dropped;
}

/** Runs once for each call of dropBodies: the sum reads the whole index. */
async function findLargestSenders(context: Context, kind: Droppable): Promise<string[]> {
  const rows = await selectLargestSenders(context.db, kind).execute();
  const addresses = rows.map((row) => row.source_address);
  if (kind !== 'too_many_items') return addresses;
  const hits = await findLastHits(context, [...new Set(addresses.map(nameSender))]);
  return addresses.filter((address) => !hits.has(nameSender(address)));
}

export function selectLargestSenders(db: Reader, kind: Droppable) {
  return selectStored(db, kind)
    .select('source_address')
    .groupBy('source_address')
    .orderBy(sql`SUM(body_bytes)`, 'desc')
    .limit(SENDERS_MAX);
}

/** The oldest bodies of one sender. */
export function selectOldestBodies(db: Reader, kind: Droppable, sender: string) {
  return selectStored(db, kind).select('seq').where('source_address', '=', sender).orderBy('seq').limit(BATCH_ROWS);
}

/** Reads only the index `webhooks_kept`: no bodies, and no dropped rows. */
function selectStored(db: Reader, kind: Droppable) {
  return db.selectFrom('webhooks').where(CONDITIONS[kind]).where('dropped_at', 'is', null);
}

type Share = { kind: Droppable; sender: string; bytes: number };

async function dropOldest(context: Context, { kind, sender, bytes }: Share): Promise<number> {
  // a locking read would lock every row that it passes over: find the rows first, then lock and check these alone
  const found = await selectOldestBodies(context.db, kind, sender).execute();
  if (found.length === 0) return 0;
  return await transact(context.db, async (trx) => {
    const rows = await selectStored(trx, kind)
      .select(['seq', 'items', 'body_bytes as bytes'])
      .where('seq', 'in', seqsOf(found))
      .orderBy('seq')
      .forUpdate()
      .skipLocked()
      .execute();
    let droppedBytes = 0;
    const dropped = rows.filter((row) => {
      if (droppedBytes >= bytes) return false;
      droppedBytes += row.bytes;
      return true;
    });
    if (dropped.length === 0) return 0;
    await clearBodies(
      trx,
      dropped.map(({ seq }) => seq),
      context.clock.now(),
    );
    const large = dropped.filter(({ items }) => items > ITEMS_KEPT_MAX).map(({ seq }) => seq);
    await deleteItems(trx, kind, large);
    quarantineDropped.inc(dropped.length);
    return droppedBytes;
  });
}

/** Bounds what bodies with many items leave behind: 1,000 items take more space than their body. */
async function deleteItems(trx: Transaction<Database>, kind: Droppable, webhookSeqs: number[]): Promise<void> {
  if (webhookSeqs.length === 0 || (kind !== 'denied' && kind !== 'unasked')) return;
  const firstDeleted = kind === 'denied' ? 0 : ITEMS_KEPT_MAX;
  await trx
    .deleteFrom('webhook_items')
    .where('webhook_seq', 'in', webhookSeqs)
    .where('position', '>=', firstDeleted)
    .execute();
}

/** Empties the bodies of these webhooks, and changes nothing else. */
export async function clearBodies(db: Pick<Context['db'], 'updateTable'>, seqs: number[], now: Date): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ body: Buffer.alloc(0), dropped_at: now })
    .where('seq', 'in', seqs)
    .execute();
}
