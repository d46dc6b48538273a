import type { Transaction } from 'kysely';
import { caseBySeq } from '../../database/case-by-seq.ts';
import type { Database } from '../../database/tables.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import { blockedUntil } from './check-order.ts';
import type { ClaimedCallback } from './claimed-callback.ts';
import type { OpenCallback } from './read-open-callbacks.ts';

/** `idle`: the older ones that wait for an idle moment, of one that does not. */
export type Blocked = { seq: number; until: Date; idle: number[] };

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
    const waits = same.some((one) => one.seq === row.seq && isIdle(one));
    const idle = waits ? [] : older.filter(isIdle).map(({ seq }) => seq);
    if (until) blocked.push({ seq: row.seq, until, idle });
    return until === undefined;
  });
  return { ready, blocked };
}

function isIdle(one: OpenCallback): boolean {
  return one.next_attempt_at?.getTime() === WHEN_IDLE.getTime();
}

/**
 * Defers blocked callbacks, and ends leases that ran out: the recorder wakes only callbacks without a lease. What blocks them and
 * waits for an idle moment becomes due.
 */
export async function deferBlocked(trx: Transaction<Database>, blocked: Blocked[], now: Date): Promise<void> {
  if (blocked.length === 0) return;
  const seqs = blocked.map((one) => one.seq);
  const until = caseBySeq<Date, Blocked>(
    blocked,
    (one) => one.seq,
    (one) => one.until,
  );
  const change = { next_attempt_at: until, lease_holder: null, lease_until: null };
  await trx.updateTable('callbacks').set(change).where('seq', 'in', seqs).execute();
  const idle = blocked.flatMap((one) => one.idle);
  if (idle.length === 0) return;
  await trx
    .updateTable('callbacks')
    .set((eb) => ({ next_attempt_at: eb.case().when('state', '=', 'held').then(eb.ref('created_at')).else(now).end() }))
    .where('seq', 'in', idle)
    .where('next_attempt_at', '=', WHEN_IDLE)
    .execute();
}
