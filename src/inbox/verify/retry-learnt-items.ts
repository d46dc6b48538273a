/**
 * Retries items that were quarantined as unknown or wait for the list, once the ledger has learnt, from a run or
 * otherwise, the one transaction that their key names. It scans new transactions, not the quarantine: that may hold
 * years of payments that are not ours.
 *
 * An item is retried once: its `resolved_id` names the transaction. A transaction that the provider lists but does not
 * show stays in quarantine after that fetch. Otherwise every tick would retry and report it.
 */

import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { caseBySeq } from '../../database/case-by-seq.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { seqsOf } from '../../domain/lists.ts';
import { findNamedItems, isRetryable, type NamedItem, RETRYABLE_REASONS } from './find-named-items.ts';
import { lockWebhooks } from './record-outcomes.ts';

const BATCH_ROWS = 1_000;
/** Limit of one tick: the watch has other steps. After a backfill the next ticks continue. */
const BATCHES_MAX = 50;
const ITEMS_MAX = 200;
/**
 * A transaction is scanned again for this long after it was first seen. One with a lower number may be committed later,
 * and an item that was looked up just before it may be quarantined just after it.
 */
const RESCAN_MS = 300_000;
const PEEK_ROWS = 10_000;
/** The number of a transaction: it and all lower ones need no further scan. */
const SETTING = 'learnt_retried';

/** @returns how many items were scheduled for a retry. */
export async function retryLearntItems(context: Context): Promise<number> {
  const { db, clock, log, signal } = context;
  const now = clock.now();
  const hasRetryable = await hasRetryableItems(db, now);
  const scannedUntil = new Date(now.getTime() - RESCAN_MS);
  const began = Number((await readSetting(db, SETTING)) ?? 0);
  let [scanned, from, retried] = [began, began, 0];
  for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch++) {
    const rows = await readLearnt(db, from);
    const named = hasRetryable ? await findNamedItems(db, { learnt: rows, now, itemsMax: ITEMS_MAX }) : [];
    if (named.length > 0) retried += await transact(db, (trx) => reopenItems(trx, named, now));
    // more items may name these transactions
    if (named.length === ITEMS_MAX) continue;
    scanned = rows.findLast((row) => row.first_seen_at <= scannedUntil)?.seq ?? scanned;
    from = rows.at(-1)?.seq ?? from;
    if (rows.length < BATCH_ROWS) break;
  }
  if (scanned > began) await writeScanned(context, scanned);
  if (retried > 0) {
    log.info({ items: retried }, 'retrying unknown items: the ledger has learnt their transactions');
    context.wakeUps.inbox.notify();
  }
  return retried;
}

/** Whether there may be a retryable item. A quarantine with more than PEEK_ROWS items counts as yes. */
async function hasRetryableItems(db: Reader, now: Date): Promise<boolean> {
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

/** Reopens the items that no other process reopened meanwhile. @returns how many. */
async function reopenItems(trx: Transaction<Database>, named: NamedItem[], now: Date): Promise<number> {
  const webhookSeqs = named.map(({ webhookSeq }) => webhookSeq);
  await lockWebhooks(trx, webhookSeqs);
  const retryable = await trx
    .selectFrom('webhook_items')
    .select(['seq', 'webhook_seq'])
    .where('seq', 'in', seqsOf(named))
    .where(isRetryable(now))
    .execute();
  if (retryable.length === 0) return 0;
  const resolvedId = caseBySeq<string, NamedItem>(
    named,
    (item) => item.seq,
    (item) => item.transactionId,
  );
  await trx
    .updateTable('webhook_items')
    .set({ state: 'pending', reason: null, next_look_at: now, resolved_id: resolvedId })
    .where('seq', 'in', seqsOf(retryable))
    .execute();
  await trx
    .updateTable('webhooks')
    .set({ state: 'pending', reason: null })
    .where(
      'seq',
      'in',
      retryable.map((row) => row.webhook_seq),
    )
    .execute();
  return retryable.length;
}

async function writeScanned(context: Context, seq: number): Promise<void> {
  const value = Buffer.from(`${seq}`);
  await context.db.insertInto('settings').values({ name: SETTING, value }).onDuplicateKeyUpdate({ value }).execute();
}
