/**
 * Whether the books prove themselves: the hash chain, every entry in itself, the folded balances, what people entered,
 * and every transaction against its events. All of it is read, in ranges, without locks. A break is `books_broken`,
 * and never resolves itself.
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
import { UNSEALED_SCOPE } from './verify-sealed.ts';
import { verifyStated } from './verify-stated.ts';

export type BooksCheck = {
  /** The newest sealed position. */
  position: number;
  entries: number;
  transactions: number;
  /** How many breaks there are in all, and the first of them. */
  broken: number;
  breaks: Break[];
};

/**
 * What is broken is read a second time before it is raised: a break stays, and what only moved while it was read does
 * not. What nobody has sealed for long is sealed in between, if it can be.
 * @param leaseGivenMs how long the sealer of another process is waited for.
 * @throws the signal's reason when it was stopped: what was not read through proves nothing.
 */
export async function checkBooks(context: Context, { leaseGivenMs = LEASE_WAIT_MS_MAX } = {}): Promise<BooksCheck> {
  const first = await readThrough(context);
  if (first.broken === 0) return first;
  if (first.breaks.some((one) => one.scope === UNSEALED_SCOPE)) await sealRemaining(context, leaseGivenMs);
  const check = keepBoth(first, await readThrough(context));
  if (check.broken > 0) await raiseBroken(context, check.breaks, check.broken);
  return check;
}

async function readThrough(context: Context): Promise<BooksCheck> {
  const { tell, breaks, count } = collectBreaks();
  const position = await verifyChain(context, tell);
  const entries = await verifyEntries(context, tell);
  await verifyStated(context, tell);
  await verifyBalances(context, tell);
  const transactions = await verifyHistories(context, tell);
  context.signal.throwIfAborted();
  return { position, entries, transactions, broken: count(), breaks };
}

/** The second reading, less what the first one did not tell; as it is where the first one told more than is kept. */
function keepBoth(first: BooksCheck, second: BooksCheck): BooksCheck {
  if (first.broken > first.breaks.length) return second;
  const told = new Set(first.breaks.map((one) => one.scope));
  const breaks = second.breaks.filter((one) => told.has(one.scope));
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
