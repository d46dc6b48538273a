import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { type ClaimedCallback, selectClaimable, toClaimed } from './claimed-callback.ts';
import type { OpenCallback } from './read-open-callbacks.ts';
import type { LeasedSet } from './slots.ts';

/** So many go after one without a claim of their own; what comes after them is woken as any other. */
const FOLLOWERS_MAX = 8;

/**
 * Gives each callback that may go the newer ones of its transaction, locked: one that was never tried waits for nothing
 * but those before it, and a whole history that was learnt at once needs one claim. One that failed before leads nothing:
 * it may fail again, and they would be given back each time.
 * @param options.limited merchants with a rate: each of their callbacks has to be granted by itself.
 * @param options.busy what this process holds already.
 */
export async function claimSuccessors(
  trx: Transaction<Database>,
  granted: ClaimedCallback[],
  open: OpenCallback[],
  { limited, busy }: { limited: Set<number>; busy: LeasedSet },
): Promise<ClaimedCallback[]> {
  const chains = listFollowers(
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
  return granted.map((one) => ({ ...one, successors: takeWhole(chains.get(one.seq) ?? [], locked) }));
}

/** By the row number of each that leads: those that only wait for it, in their order. */
function listFollowers(granted: ClaimedCallback[], open: OpenCallback[], busy: LeasedSet): Map<number, number[]> {
  const leads = new Set(granted.map((one) => one.seq));
  const openByKey = Map.groupBy(open, (one) => `${one.merchant_seq}:${one.transaction_seq}`);
  return new Map(
    granted.map((one) => {
      const newer = (openByKey.get(`${one.merchantSeq}:${one.transactionSeq}`) ?? [])
        .filter(({ sequence }) => sequence > one.sequence)
        .sort((a, b) => a.sequence - b.sequence);
      const end = newer.findIndex((next) => !onlyWaits(next) || leads.has(next.seq) || busy.has(next.seq));
      const following = end < 0 ? newer : newer.slice(0, end);
      return [one.seq, following.slice(0, FOLLOWERS_MAX).map(({ seq }) => seq)];
    }),
  );
}

function onlyWaits(one: OpenCallback): boolean {
  return one.state === 'pending' && one.lease_holder === null && one.first_failed_at === null;
}

/** Up to the first that somebody else has: none goes before one that is not held here. */
function takeWhole(seqs: number[], locked: Map<number, ClaimedCallback>): ClaimedCallback[] {
  const followers = seqs.map((seq) => locked.get(seq));
  const end = followers.indexOf(undefined);
  return (end < 0 ? followers : followers.slice(0, end)).filter((one) => one !== undefined);
}
