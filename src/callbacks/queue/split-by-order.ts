import type { Transaction } from 'kysely';
import { caseBySeq } from '../../database/case-by-seq.ts';
import type { Database } from '../../database/tables.ts';
import { blockedUntil } from './check-order.ts';
import type { ClaimedCallback } from './claimed-callback.ts';
import type { OpenCallback } from './read-open-callbacks.ts';

export type Blocked = { seq: number; until: Date };

/** Splits callbacks into those that may be sent now and those blocked by older ones. @param open as readOpenCallbacks gives. */
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

/** Defers blocked callbacks, and ends leases that ran out: the recorder wakes only callbacks without a lease. */
export async function deferBlocked(trx: Transaction<Database>, blocked: Blocked[]): Promise<void> {
  if (blocked.length === 0) return;
  const seqs = blocked.map((one) => one.seq);
  const until = caseBySeq<Date, Blocked>(
    blocked,
    (one) => one.seq,
    (one) => one.until,
  );
  const change = { next_attempt_at: until, lease_holder: null, lease_until: null };
  await trx.updateTable('callbacks').set(change).where('seq', 'in', seqs).execute();
}
