/**
 * What was quarantined because nobody knew it, or waits for the list, is looked at again once that can help: when the
 * ledger has learnt, from a run or otherwise, the one transaction that its key names. New transactions are gone through,
 * not the quarantine, which may hold years of payments that are not ours.
 *
 * An item is put back once: its `resolved_id` tells for which transaction. So one that the provider's show goes on
 * denying, though its list has it, rests in quarantine after that look instead of coming back, and being told, with
 * every tick.
 */
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { findNamedItems, isRetryable, type NamedItem, RETRYABLE_REASONS } from './find-named-items.ts';
import { lockWebhooks } from './settle-items.ts';

const BATCH_ROWS = 1_000;
/** After a backfill the next ticks go on: the watch has other steps. */
const BATCHES_MAX = 50;
const ITEMS_MAX = 200;
/**
 * For so long after it was first seen a transaction is gone through again: one of a lower number may be committed after
 * it, and an item that had asked the ledger just before it may be quarantined just after it.
 */
const SETTLED_AFTER_MS = 300_000;
const PEEK_ROWS = 10_000;
/** The number of a transaction: it, and all below it, are done with. */
const SETTING = 'learnt_retried';

/** @returns how many items were put back to be looked at. */
export async function retryLearntItems(context: Context): Promise<number> {
  const { db, clock, log, signal } = context;
  const now = clock.now();
  const helps = await mayHelp(db, now);
  const settledUntil = new Date(now.getTime() - SETTLED_AFTER_MS);
  const began = Number((await readSetting(db, SETTING)) ?? 0);
  let [settled, from, retried] = [began, began, 0];
  for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch++) {
    const rows = await readLearnt(db, from);
    const named = helps ? await findNamedItems(db, { learnt: rows, now, itemsMax: ITEMS_MAX }) : [];
    if (named.length > 0) retried += await transact(db, (trx) => putBack(trx, named, now));
    // there may be more that name these
    if (named.length === ITEMS_MAX) continue;
    settled = rows.findLast((row) => row.first_seen_at <= settledUntil)?.seq ?? settled;
    from = rows.at(-1)?.seq ?? from;
    if (rows.length < BATCH_ROWS) break;
  }
  if (settled > began) await writeSettled(context, settled);
  if (retried > 0) {
    log.info({ items: retried }, 'what was unknown is looked at again: the ledger has learnt it');
    context.wakeUps.inbox.notify();
  }
  return retried;
}

/** Whether there is anything that could be helped; in a quarantine that is full of other things there may be. */
async function mayHelp(db: Reader, now: Date): Promise<boolean> {
  const waiting = await db
    .selectFrom('webhook_items')
    .select('seq')
    .where('state', '=', 'pending')
    .where('next_look_at', '>', now)
    .limit(1)
    .execute();
  if (waiting.length > 0) return true;
  const rows = await db
    .selectFrom('webhook_items')
    .select(['reason', 'resolved_id'])
    .where('state', '=', 'quarantined')
    .limit(PEEK_ROWS)
    .execute();
  return (
    rows.length === PEEK_ROWS ||
    rows.some((row) => row.resolved_id === null && RETRYABLE_REASONS.includes(row.reason ?? ''))
  );
}

async function readLearnt(db: Reader, from: number) {
  return await db
    .selectFrom('transactions')
    .select(['seq', 'id', 'reference', 'extra_hash', 'first_seen_at'])
    .where('seq', '>', from)
    .orderBy('seq')
    .limit(BATCH_ROWS)
    .execute();
}

/** Those that nobody has put back meanwhile. @returns how many. */
async function putBack(trx: Transaction<Database>, named: NamedItem[], now: Date): Promise<number> {
  await lockWebhooks(
    trx,
    named.map(({ webhookSeq }) => webhookSeq),
  );
  const still = await trx
    .selectFrom('webhook_items')
    .select(['seq', 'webhook_seq'])
    .where(
      'seq',
      'in',
      named.map(({ seq }) => seq),
    )
    .where(isRetryable(now))
    .execute();
  if (still.length === 0) return 0;
  const resolved = named.map(({ seq, transactionId }) => sql`WHEN ${seq} THEN ${transactionId}`);
  await trx
    .updateTable('webhook_items')
    .set({
      ...{ state: 'pending', reason: null, next_look_at: now },
      resolved_id: sql<string>`CASE seq ${sql.join(resolved, sql` `)} END`,
    })
    .where(
      'seq',
      'in',
      still.map(({ seq }) => seq),
    )
    .execute();
  await trx
    .updateTable('webhooks')
    .set({ state: 'pending', reason: null })
    .where(
      'seq',
      'in',
      still.map((row) => row.webhook_seq),
    )
    .execute();
  return still.length;
}

async function writeSettled(context: Context, seq: number): Promise<void> {
  const value = Buffer.from(`${seq}`);
  await context.db.insertInto('settings').values({ name: SETTING, value }).onDuplicateKeyUpdate({ value }).execute();
}
