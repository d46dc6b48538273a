import type { Kysely } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { CallbackInsert } from './callback-rows.ts';
import { LEASE_MS } from './claim-callbacks.ts';
import { SUCCESSORS_MAX } from './claim-successors.ts';
import type { ClaimedCallback } from './claimed-callback.ts';

/** This process's delivery loop, as offered to transactions that write callbacks. */
export type Taker = {
  /** Reserves a slot for a callback of this merchant, where it may be sent at once. @returns whether there is one. */
  reserve(merchantSeq: number): boolean;
  /** Gives a reserved slot back. */
  giveBack(merchantSeq: number): void;
  /**
   * Sends claimed callbacks, each with its successors, in the slots that were reserved for them. While the process stops,
   * it resolves once they are released, otherwise at once.
   * @param claimedAtMs when their leases began, by the monotonic clock.
   */
  take(claimed: ClaimedCallback[], claimedAtMs: number): Promise<void>;
};

const takers = new WeakMap<Kysely<Database>, Taker>();

/** Offers slots to the transactions of this pool until it is disposed. */
export function offerSlots({ db }: Context, taker: Taker): Disposable {
  takers.set(db, taker);
  return { [Symbol.dispose]: () => void takers.delete(db) };
}

/**
 * The claims of one transaction that writes callbacks: it leases those that are due at once in the INSERT itself, and
 * passes them to the delivery loop of this process after its commit. So they need no claim of their own.
 */
export type InsertClaims = Disposable & {
  /** Forgets the claims of an attempt that was rolled back. */
  restart(): void;
  /**
   * Leases the rows that may be sent at once: of each transaction and merchant the first one, where nothing older is open
   * and a slot is free, and its successors.
   * @param rows that one transaction writes, oldest first for each transaction of the ledger.
   * @param isBlocked whether an older callback of the same merchant and transaction may be open.
   */
  lease(rows: CallbackInsert[], isBlocked: (row: CallbackInsert) => boolean): CallbackInsert[];
  /** Remembers the rows that were inserted with a lease of `lease`, once. @param written all of them, with their row numbers. */
  remember(written: LeasedCallback[]): void;
  /** How many callbacks are remembered. */
  count(): number;
  /** Passes all that was remembered to the delivery loop. Called after the commit. */
  handOver(): Promise<void>;
};

/** As it was inserted, or as it was there before under the same webhook id. */
export type LeasedCallback = ClaimedCallback & { leaseHolder: string | null; leaseUntil: Date | null };

/** @returns undefined if no delivery loop of this process takes callbacks. */
export function openInsertClaims(context: Context): InsertClaims | undefined {
  const taker = takers.get(context.db);
  if (!taker) return undefined;
  let reserved: number[] = [];
  let leaseUntil: Date | undefined;
  let claimedAtMs = 0;
  let chains: ClaimedCallback[] = [];

  function restart(): void {
    for (const merchantSeq of reserved) taker?.giveBack(merchantSeq);
    [reserved, leaseUntil, chains] = [[], undefined, []];
  }

  function leaseChain(chain: CallbackInsert[], until: Date): CallbackInsert[] {
    const lease = { lease_holder: context.holder, lease_until: until, next_attempt_at: until };
    return chain.map((row, index) => (index <= SUCCESSORS_MAX ? { ...row, ...lease } : row));
  }

  return {
    restart,
    lease(rows, isBlocked) {
      const until = new Date(context.clock.now().getTime() + LEASE_MS);
      leaseUntil = until;
      claimedAtMs = context.timers.monotonicMs();
      return [...Map.groupBy(rows, keyOf).values()].flatMap((chain) => {
        const [first] = chain;
        if (!first || !isDueAtOnce(first) || isBlocked(first) || !taker.reserve(first.merchant_seq)) return chain;
        reserved.push(first.merchant_seq);
        return leaseChain(chain, until);
      });
    },
    remember(written) {
      // a row of an earlier attempt, whose commit was not confirmed, has another lease: it runs out
      const isOurs = (one: LeasedCallback): boolean =>
        one.leaseHolder === context.holder && one.leaseUntil?.getTime() === leaseUntil?.getTime();
      const inOrder = written.filter(isOurs).toSorted((a, b) => a.sequence - b.sequence);
      for (const [first, ...successors] of Map.groupBy(
        inOrder,
        (one) => `${one.merchantSeq} ${one.transactionSeq}`,
      ).values())
        if (first) chains.push({ ...first, successors });
    },
    async handOver() {
      const taken = chains;
      for (const { merchantSeq } of taken) reserved.splice(reserved.indexOf(merchantSeq), 1);
      chains = [];
      if (taken.length > 0) await taker.take(taken, claimedAtMs);
    },
    count: () => chains.reduce((sum, { successors }) => sum + 1 + successors.length, 0),
    [Symbol.dispose]: restart,
  };
}

/** Not one that is held, waits for an older one, or is fetched by its merchant. */
function isDueAtOnce({ state, next_attempt_at: dueAt, created_at: now }: CallbackInsert): boolean {
  return state === 'pending' && dueAt instanceof Date && dueAt <= now;
}

function keyOf(row: CallbackInsert): string {
  return `${row.merchant_seq} ${row.transaction_seq}`;
}
