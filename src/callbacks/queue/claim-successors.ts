import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { type ClaimedCallback, selectClaimable, toClaimed } from './claimed-callback.ts';
import type { OpenCallback } from './read-open-callbacks.ts';
import type { LeasedSet } from './slots.ts';

/** Maximum number of successors claimed together with one callback. Later ones are woken like any other callback. */
export const SUCCESSORS_MAX = 8;

/**
 * Adds to each granted callback its successors: newer callbacks of its transaction that only wait for it. They are locked.
 * So a whole history that was learnt at once needs one claim. A callback that failed before gets no successors: it may
 * fail again, and they would be released each time.
 * @param options.limited merchants with a rate: each of their callbacks needs its own grant.
 * @param options.busy callbacks that this process has leased already.
 */
export async function claimSuccessors(
  trx: Transaction<Database>,
  granted: ClaimedCallback[],
  open: OpenCallback[],
  { limited, busy }: { limited: Set<number>; busy: LeasedSet },
): Promise<ClaimedCallback[]> {
  const chains = listSuccessors(
    granted.filter((one) => one.attempts === 0 && !limited.has(one.merchantSeq)),
    open,
    busy,
  );
  const seqs = [...chains.values()].flat();
  if (seqs.length === 0) return granted;
  const rows = await selectClaimable(trx)
    .where('seq', 'in', seqs)
    .where('state', '=', 'pending')
    .where('lease_holder', 'is', null)
    .where('first_failed_at', 'is', null)
    .orderBy('seq')
    .forUpdate()
    .skipLocked()
    .execute();
  const locked = new Map(rows.map((row) => [row.seq, toClaimed(row)]));
  return granted.map((one) => ({ ...one, successors: takeUntilMissing(chains.get(one.seq) ?? [], locked) }));
}

/** @returns the row numbers of the successors, in order, by the row number of the granted callback. */
function listSuccessors(granted: ClaimedCallback[], open: OpenCallback[], busy: LeasedSet): Map<number, number[]> {
  const isGranted = new Set(granted.map((one) => one.seq));
  const openByKey = Map.groupBy(open, (one) => `${one.merchant_seq}:${one.transaction_seq}`);
  return new Map(
    granted.map((one) => {
      const newer = (openByKey.get(`${one.merchantSeq}:${one.transactionSeq}`) ?? [])
        .filter(({ sequence }) => sequence > one.sequence)
        .sort((a, b) => a.sequence - b.sequence);
      const end = newer.findIndex((next) => !onlyWaits(next) || isGranted.has(next.seq) || busy.has(next.seq));
      const successors = end < 0 ? newer : newer.slice(0, end);
      return [one.seq, successors.slice(0, SUCCESSORS_MAX).map(({ seq }) => seq)];
    }),
  );
}

function onlyWaits(one: OpenCallback): boolean {
  return one.state === 'pending' && one.lease_holder === null && one.first_failed_at === null;
}

/** Cuts the chain at the first callback that another process has locked: the order must not be broken. */
function takeUntilMissing(seqs: number[], locked: Map<number, ClaimedCallback>): ClaimedCallback[] {
  const successors = seqs.map((seq) => locked.get(seq));
  const end = successors.indexOf(undefined);
  return (end < 0 ? successors : successors.slice(0, end)).filter((one) => one !== undefined);
}
