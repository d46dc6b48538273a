/**
 * The books check: proves that the stored books are consistent and unchanged. Start reading proof/ here.
 *
 * In: the database, read in batches without locks. Out: a `books_broken` mismatch for each break, which never resolves
 * itself, and a row of `books_checks`: a proof, if no break was found.
 *
 * It runs these steps (run-steps.ts): the hash chain and everything it seals (verify-chain.ts); hashes stored elsewhere
 * (verify-anchors.ts); the balances that the sealer derived (verify-balances.ts); each event and entry in itself
 * (verify-entries.ts); openings and adjustments (verify-stated.ts); closed months (verify-months.ts); each transaction's
 * row and entries against its events (verify-histories.ts); expected payments against what the facts decide (verify-expected.ts).
 *
 * A whole check reads everything: each week, at half speed. A check since a proof reads what was written after it: each
 * night. What was changed by hand below the proof's position is found by the next whole check; docs/log.md says
 * what finds it earlier. Each step says which of it a proof saves, and why.
 */
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { LEASE_WAIT_MS_MAX } from '../seal/seal-remaining.ts';
import { type CheckState, continueState, startState } from './check-state.ts';
import type { Break } from './collect-breaks.ts';
import {
  openWholeCheck,
  readProof,
  recordCheck,
  requireRecentWhole,
  saveWholeCheck,
  TakenOverError,
} from './record-checks.ts';
import { runSteps } from './run-steps.ts';

/** Books of fewer entries are checked whole each night: it takes minutes. */
export const NIGHTLY_WHOLE_ENTRIES_MAX = 1_000_000;
/** The whole check works for this share of its time, on one connection: after each batch it pauses for the rest. */
const WHOLE_SHARE = 0.5;
export const BREAKS_SHOWN_MAX = 5;
/** Shorter pauses are added up. */
const PAUSE_MS_MIN = 200;
/** How much of a whole check may be read again after it was interrupted. */
const SAVE_EVERY_MS = 5_000;

export type BooksCheck = {
  /** The newest sealed position. */
  position: number;
  /** How many were read; since a proof, an older transaction once for each part of it that changed. */
  entries: number;
  transactions: number;
  /** Cosignatures of keys that WITNESSES does not name. */
  unverified: number;
  /** How many breaks there are in all, and the first 200 of them. */
  broken: number;
  breaks: Break[];
};

/**
 * Checks the books at once, from their beginning or since the last proof. Raises breaks, and records no proof.
 * @param options.leaseGivenMs how long to wait for another process's sealer lease, if rows were left unsealed.
 * @throws the signal's reason when it was stopped; ConfereError `wrong_use` if there is no proof to continue.
 */
export async function checkBooks(
  context: Context,
  { leaseGivenMs = LEASE_WAIT_MS_MAX, sinceProof = false } = {},
): Promise<BooksCheck> {
  const proof = sinceProof ? await readProof(context) : undefined;
  if (sinceProof && !proof)
    throw new ConfereError('wrong_use', 'no books check was finished without a break: check the whole books once');
  const { db } = context;
  const state = proof ? await continueState(db, proof.state) : await startState(db);
  return toCheck(await runSteps(context, state, { proof: proof?.state, leaseGivenMs }));
}

/**
 * The nightly job: checks what was written since the last proof, and records the next one. Without one, and while the books
 * are small, checks everything.
 * @throws ConfereError `books_broken` if no whole check was finished for long.
 */
export async function checkNewBooks(
  context: Context,
  wholeEntriesMax = NIGHTLY_WHOLE_ENTRIES_MAX,
): Promise<BooksCheck | undefined> {
  const proof = await readProof(context);
  if (!proof || proof.state.walk.sealed <= wholeEntriesMax) return await checkAllBooks(context);
  const startedAt = context.clock.now();
  const state = await runSteps(context, await continueState(context.db, proof.state), {
    proof: proof.state,
    leaseGivenMs: LEASE_WAIT_MS_MAX,
  });
  await recordCheck(context, proof, startedAt, state);
  await requireRecentWhole(context);
  return toCheck(state);
}

/**
 * The weekly job: checks everything, pausing between batches, and continues where an earlier try was interrupted.
 * @returns undefined if another process took it over.
 */
export async function checkAllBooks(context: Context): Promise<BooksCheck | undefined> {
  const { timers, signal, log } = context;
  const check = await openWholeCheck(context);
  let [step, savedAtMs, owedMs] = [check.state.step, timers.monotonicMs(), 0];
  const afterBatch = async (state: CheckState, workedMs: number): Promise<void> => {
    check.state = state;
    if (state.step !== step || timers.monotonicMs() - savedAtMs >= SAVE_EVERY_MS) {
      await saveWholeCheck(context, check);
      [step, savedAtMs] = [state.step, timers.monotonicMs()];
    }
    owedMs += workedMs * (1 / WHOLE_SHARE - 1);
    if (owedMs < PAUSE_MS_MIN) return;
    await timers.sleep(owedMs, { signal });
    owedMs = 0;
  };
  try {
    check.state = await runSteps(context, check.state, { leaseGivenMs: LEASE_WAIT_MS_MAX, afterBatch });
    await saveWholeCheck(context, check, 'finished');
  } catch (error) {
    if (!(error instanceof TakenOverError)) throw error;
    log.info({ check: check.seq }, 'another process continues the whole books check');
    return undefined;
  }
  return toCheck(check.state);
}

function toCheck({ walk, log, entries, histories, touched, broken, breaks }: CheckState): BooksCheck {
  const transactions = histories.count + touched.count;
  const { unverified } = log;
  return { position: walk.position, entries: entries.count, transactions, unverified, broken, breaks };
}

/**
 * Describes the outcome of a check, with its first breaks.
 * @param since what the entries are counted from, such as ` since the last proof`.
 */
export function describeCheck(
  { position, entries, transactions, unverified, broken, breaks }: BooksCheck,
  since = '',
): { ok: boolean; says: string } {
  const shown = breaks.slice(0, BREAKS_SHOWN_MAX).map((one) => `${one.scope}: ${one.says}`);
  const says =
    broken > 0
      ? `${broken} breaks. ${shown.join('; ')}`
      : `${transactions} transactions and ${entries} entries${since} are consistent; the chain is whole up to position ${position}`;
  const others = `; ${unverified} cosignatures are of keys that WITNESSES does not name, and were not verified`;
  return { ok: broken === 0, says: unverified > 0 ? says + others : says };
}
