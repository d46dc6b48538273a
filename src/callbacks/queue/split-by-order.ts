import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { blockedUntil } from './check-order.ts';
import type { ClaimedCallback } from './claimed-callback.ts';
import type { OpenCallback } from './read-open-callbacks.ts';

export type Blocked = { seq: number; until: Date };

/** Which of these may go now, and which wait for older ones of their transaction. @param open what is still to be delivered. */
export function splitByOrder(
  rows: ClaimedCallback[],
  open: OpenCallback[],
  now: Date,
): { ready: ClaimedCallback[]; blocked: Blocked[] } {
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

/** Puts blocked callbacks off, each until it may look again. A lease that ran out ends here: only what nobody has is woken. */
export async function deferBlocked(trx: Transaction<Database>, blocked: Blocked[]): Promise<void> {
  if (blocked.length === 0) return;
  const until: RawBuilder<Date> = sql`CASE seq ${sql.join(
    blocked.map((one) => sql`WHEN ${one.seq} THEN ${one.until}`),
    sql` `,
  )} END`;
  const seqs = blocked.map((one) => one.seq);
  const change = { next_attempt_at: until, lease_holder: null, lease_until: null };
  await trx.updateTable('callbacks').set(change).where('seq', 'in', seqs).execute();
}
