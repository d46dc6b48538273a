import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { runTogether } from '../../database/run-together.ts';
import type { Database } from '../../database/tables.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { findClosedDays } from '../../mismatches/find-closed-days.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { applyEvidence } from '../../mismatches/resolve-mismatches.ts';
import type { compareReferences } from './compare-references.ts';
import { expectWebhooks } from './expect-webhooks.ts';
import {
  listConfirmed,
  listFoundMismatches,
  listObservedAmounts,
  listResolved,
  type TransactionChange,
} from './fold-observations.ts';
import { updateDoubts } from './update-doubts.ts';
import type { HistoryChange } from './write-history-change.ts';

type Change = TransactionChange & { history: HistoryChange };
type Diff = Record<'reverse' | 'post', { atWall: string }[]>;

/** The comparison of a batch of changes. `diffs`: in the order of the changes. */
type Compared = {
  seqs: Map<string, number>;
  diffs: Diff[];
  references: Awaited<ReturnType<typeof compareReferences>>;
  found: FoundMismatch[];
  now: Date;
};

/** Raises and resolves the mismatches of changes. @returns those that were opened. */
export async function updateMismatches(
  context: Context,
  trx: Transaction<Database>,
  changes: Change[],
  { seqs, diffs, references, found: others, now }: Compared,
): Promise<FoundMismatch[]> {
  const numbered = changes.map((change) => ({
    ...change,
    seq: requireRowNumber(seqs.get(change.after.id), `transaction ${change.after.id}`),
  }));
  const moments = changes.flatMap((change, index) => listMoments(change, diffs[index]));
  const [, doubts, closed] = await runTogether(trx, [
    (together) => expectWebhooks(context, together, numbered, now),
    (together) => updateDoubts(context, together, changes, seqs),
    (together) => findClosedDays(context, together, moments),
  ]);
  const found = numbered.flatMap((change) => listFoundMismatches(context, change, change.seq));
  const raised = await raiseMismatches(
    trx,
    [...found, ...others, ...doubts.found, ...references.found, ...closed],
    now,
  );
  const resolved = [...changes.flatMap(listResolved), ...doubts.resolved, ...references.resolved];
  const evidence = { resolved, confirmed: changes.flatMap(listConfirmed), amounts: changes.map(listObservedAmounts) };
  await applyEvidence(trx, evidence, now);
  return raised;
}

/**
 * Returns the wall-clock times that a change affects: of new and changed events, and of posted and reversed
 * entries.
 */
function listMoments({ added, history, source }: Change, diff: Diff | undefined) {
  const events = [...added, ...history.inForceChanged, ...history.repositioned];
  const moments = [...events, ...(diff?.reverse ?? []), ...(diff?.post ?? [])];
  const runSeq = source.kind === 'webhook' ? undefined : source.run?.seq;
  return moments.map(({ atWall }) => ({ atWall, runSeq }));
}
