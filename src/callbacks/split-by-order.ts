import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { ClaimedCallback } from './claim-callbacks.ts';
import { blockedUntil } from './order.ts';
import { readOpenCallbacks } from './read-open-callbacks.ts';

export type Blocked = { seq: number; until: Date };

/**
 * Which of these may go now, and which wait for older ones of their transaction.
 *
 * Reads what is older under the lock of the newer: the recorder, which wakes the newer one after it recorded the older,
 * needs that lock too, so it either is seen here or wakes what is put off here.
 */
export async function splitByOrder(
  trx: Transaction<Database>,
  rows: ClaimedCallback[],
  now: Date,
): Promise<{ ready: ClaimedCallback[]; blocked: Blocked[] }> {
  const later = rows.filter((row) => row.transactionSeq !== null && row.sequence > 1);
  if (later.length === 0) return { ready: rows, blocked: [] };
  const transactionSeqs = new Set(later.map((row) => row.transactionSeq).filter((seq) => seq !== null));
  const merchantSeqs = new Set(later.map((row) => row.merchantSeq));
  const open = await readOpenCallbacks(trx, [...transactionSeqs], [...merchantSeqs]);
  const openByKey = Map.groupBy(open, (one) => `${one.merchant_seq}:${one.transaction_seq}`);
  const blocked: Blocked[] = [];
  const ready = rows.filter((row) => {
    const same = openByKey.get(`${row.merchantSeq}:${row.transactionSeq}`) ?? [];
    const older = same.filter((one) => one.sequence < row.sequence);
    const until = blockedUntil(
      older.map((one) => ({ firstFailedAt: one.first_failed_at })),
      now,
    );
    if (until) blocked.push({ seq: row.seq, until });
    return until === undefined;
  });
  return { ready, blocked };
}

/** Puts blocked callbacks off, each until it may look again. */
export async function putOff(trx: Transaction<Database>, blocked: Blocked[]): Promise<void> {
  if (blocked.length === 0) return;
  const until: RawBuilder<Date> = sql`CASE seq ${sql.join(
    blocked.map((one) => sql`WHEN ${one.seq} THEN ${one.until}`),
    sql` `,
  )} END`;
  const seqs = blocked.map((one) => one.seq);
  await trx.updateTable('callbacks').set({ next_attempt_at: until }).where('seq', 'in', seqs).execute();
}
