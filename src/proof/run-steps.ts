/**
 * Runs the steps of a books check, batch by batch. A batch in which a break is found is read again: a real break is in
 * both readings, a concurrent change is not. A real one is raised at once, and with all of its evidence at the end.
 */

import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { append } from '../domain/lists.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { raiseMismatches } from '../mismatches/raise-mismatches.ts';
import { sealRemaining } from '../seal/seal-remaining.ts';
import { type CheckState, STEP_NAMES, type Step, type StepName, type Verification } from './check-state.ts';
import { BREAKS_KEPT_MAX, type Break, collectBreaks } from './collect-breaks.ts';
import { verifyBalances } from './verify-balances.ts';
import { verifyAnchors, verifyChain } from './verify-chain.ts';
import { verifyEntries, verifyEvents, verifyLateEntries } from './verify-entries.ts';
import { verifyExpected } from './verify-expected.ts';
import { verifyHistories } from './verify-histories.ts';
import { verifyLog } from './verify-log.ts';
import { verifyMonths } from './verify-months.ts';
import { UNSEALED_SCOPE } from './verify-sealed.ts';
import { verifyStated } from './verify-stated.ts';
import { verifyPlatforms, verifyTouched } from './verify-touched.ts';

const STEPS: Record<StepName, Step> = {
  chain: verifyChain,
  anchors: verifyAnchors,
  log: verifyLog,
  balances: verifyBalances,
  events: verifyEvents,
  entries: verifyEntries,
  late: verifyLateEntries,
  stated: verifyStated,
  months: verifyMonths,
  histories: verifyHistories,
  touched: verifyTouched,
  platforms: verifyPlatforms,
  expected: verifyExpected,
};

export type RunOptions = {
  /** The proof until now. */
  proof?: CheckState | undefined;
  /** How long to wait for another process's sealer lease, if rows were left unsealed. */
  leaseGivenMs: number;
  /** Called after each batch, with its duration. */
  afterBatch?: (state: CheckState, workedMs: number) => Promise<void>;
};

/** Runs all steps from a state on. @returns the last state. @throws the signal's reason: a stopped check proves nothing. */
export async function runSteps(context: Context, initial: CheckState, options: RunOptions): Promise<CheckState> {
  let state = initial;
  const scratch = {};
  for (;;) {
    const startedMs = context.timers.monotonicMs();
    const batch = await confirmBatch(context, { state, proof: options.proof, scratch }, options.leaseGivenMs);
    context.signal.throwIfAborted();
    state = batch.state;
    const next = batch.hasMore ? state.step : STEP_NAMES[STEP_NAMES.indexOf(state.step) + 1];
    if (next === undefined) break;
    state.step = next;
    await options.afterBatch?.(state, context.timers.monotonicMs() - startedMs);
  }
  if (state.broken > 0) await raiseBroken(context, state, state.breaks);
  return state;
}

/** Readings of one batch. Rows that were added between two of them may be broken too. */
const READINGS_MAX = 5;

type Start = Pick<Verification, 'state' | 'proof' | 'scratch'>;
type Batch = { state: CheckState; hasMore: boolean; breaks: Break[]; count: number };

async function confirmBatch(context: Context, start: Start, leaseGivenMs: number): Promise<Batch> {
  const first = await readBatch(context, start);
  if (first.count === 0) return first;
  context.signal.throwIfAborted();
  if (first.breaks.some((one) => one.scope === UNSEALED_SCOPE)) await sealRemaining(context, leaseGivenMs);
  let [before, last] = [first, await readBatch(context, start)];
  // a break that only the last reading has is read again: the next batch begins behind it
  for (let readings = 2; readings < READINGS_MAX && hasOthers(before, last); readings++) {
    context.signal.throwIfAborted();
    [before, last] = [last, await readBatch(context, start)];
  }
  context.signal.throwIfAborted();
  const { breaks, count } = intersectBreaks(before, last);
  if (count === 0) return last;
  const { state } = last;
  state.broken += count;
  const kept = breaks.slice(0, BREAKS_KEPT_MAX - state.breaks.length);
  append(state.breaks, kept);
  await raiseBroken(context, state, await selectUnknown(context, kept));
  return last;
}

/** Whether the last reading has a break that the one before it lacks. */
function hasOthers(before: Batch, last: Batch): boolean {
  const known = new Set(before.breaks.map((one) => one.scope));
  return last.breaks.some((one) => !known.has(one.scope));
}

/** Returns the breaks of scopes without a mismatch. Of the others, later steps may find more. */
async function selectUnknown({ db }: Context, breaks: Break[]): Promise<Break[]> {
  if (breaks.length === 0) return [];
  const scopes = breaks.map((one) => one.scope);
  const rows = await db
    .selectFrom('mismatches')
    .select('scope')
    .where('kind', '=', 'books_broken')
    .where('scope', 'in', scopes)
    .execute();
  const known = new Set(rows.map((row) => row.scope));
  return breaks.filter((one) => !known.has(one.scope));
}

async function readBatch(context: Context, start: Start): Promise<Batch> {
  const { report, breaks, count } = collectBreaks();
  const state = structuredClone(start.state);
  const hasMore = await STEPS[state.step]({ ...start, context, state, report });
  return { state, hasMore, breaks, count: count() };
}

/**
 * Returns the second reading without breaks that the first lacks; unfiltered where the first had more than it
 * stores.
 */
function intersectBreaks(first: Batch, second: Batch): Pick<Batch, 'breaks' | 'count'> {
  if (first.count > first.breaks.length) return second;
  const inFirst = new Set(first.breaks.map((one) => one.scope));
  const breaks = second.breaks.filter((one) => inFirst.has(one.scope));
  return { breaks, count: second.count > second.breaks.length ? second.count : breaks.length };
}

async function raiseBroken(context: Context, { broken }: CheckState, breaks: Break[]): Promise<void> {
  if (breaks.length === 0) return;
  // the same evidence in each check, so that what a person resolved is not reopened; the total, if some are not kept
  const total = broken > BREAKS_KEPT_MAX ? { breaks: broken } : {};
  const byScope = Map.groupBy(breaks, (one) => one.scope);
  const found = [...byScope].map(([scope, same]): FoundMismatch => {
    const id = same[0]?.transactionId;
    return {
      kind: 'books_broken',
      scope,
      ...(id === undefined ? {} : { transactionId: id }),
      expected: { books: 'that prove themselves' },
      actual: { says: [...new Set(same.map((one) => one.says))], ...total },
    };
  });
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()), { retryDuplicates: true });
  context.wakeUps.alerts.notify();
}
