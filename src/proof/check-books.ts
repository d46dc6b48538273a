/**
 * The books check: proves that the stored books are consistent and unchanged. Start reading proof/ here.
 *
 * In: the whole database, read in ranges without locks. Out: a `books_broken` mismatch for each break, which never
 * resolves itself.
 *
 * It verifies, in this order: the hash chain and everything it seals (verify-chain.ts); each entry in itself
 * (verify-entries.ts); openings and adjustments (verify-stated.ts); the balances that the sealer derived
 * (verify-balances.ts); closed months (verify-months.ts); each transaction's row and entries against its events
 * (verify-histories.ts).
 */
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { raiseMismatches } from '../mismatches/raise-mismatches.ts';
import { LEASE_WAIT_MS_MAX, sealRemaining } from '../seal/seal-remaining.ts';
import { type Break, collectBreaks } from './collect-breaks.ts';
import { verifyBalances } from './verify-balances.ts';
import { verifyChain } from './verify-chain.ts';
import { verifyEntries } from './verify-entries.ts';
import { verifyHistories } from './verify-histories.ts';
import { verifyMonths } from './verify-months.ts';
import { UNSEALED_SCOPE } from './verify-sealed.ts';
import { verifyStated } from './verify-stated.ts';

export type BooksCheck = {
  /** The newest sealed position. */
  position: number;
  entries: number;
  transactions: number;
  /** How many breaks there are in all, and the first 200 of them. */
  broken: number;
  breaks: Break[];
};

/**
 * Reads the books, and reads them again before it raises a break: a real break is in both readings, a concurrent change
 * is not. In between, it seals rows that were left unsealed for long, if possible.
 * @param leaseGivenMs how long to wait for another process's sealer lease.
 * @throws the signal's reason when it was stopped: an incomplete reading proves nothing.
 */
export async function checkBooks(context: Context, { leaseGivenMs = LEASE_WAIT_MS_MAX } = {}): Promise<BooksCheck> {
  const first = await readBooks(context);
  if (first.broken === 0) return first;
  if (first.breaks.some((one) => one.scope === UNSEALED_SCOPE)) await sealRemaining(context, leaseGivenMs);
  const check = intersectBreaks(first, await readBooks(context));
  if (check.broken > 0) await raiseBroken(context, check.breaks, check.broken);
  return check;
}

async function readBooks(context: Context): Promise<BooksCheck> {
  const { report, breaks, count } = collectBreaks();
  const position = await verifyChain(context, report);
  const entries = await verifyEntries(context, report);
  await verifyStated(context, report);
  await verifyBalances(context, report);
  await verifyMonths(context, report);
  const transactions = await verifyHistories(context, report);
  context.signal.throwIfAborted();
  return { position, entries, transactions, broken: count(), breaks };
}

/**
 * Returns the second reading without breaks that the first lacks; unfiltered where the first had more than it
 * stores.
 */
function intersectBreaks(first: BooksCheck, second: BooksCheck): BooksCheck {
  if (first.broken > first.breaks.length) return second;
  const inFirst = new Set(first.breaks.map((one) => one.scope));
  const breaks = second.breaks.filter((one) => inFirst.has(one.scope));
  return { ...second, broken: second.broken > second.breaks.length ? second.broken : breaks.length, breaks };
}

async function raiseBroken(context: Context, breaks: Break[], count: number): Promise<void> {
  const byScope = Map.groupBy(breaks, (one) => one.scope);
  const found = [...byScope].map(([scope, same]): FoundMismatch => {
    const id = same[0]?.transactionId;
    return {
      kind: 'books_broken',
      scope,
      ...(id === undefined ? {} : { transactionId: id }),
      expected: { books: 'that prove themselves' },
      actual: { says: [...new Set(same.map((one) => one.says))], breaks: count },
    };
  });
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
}
