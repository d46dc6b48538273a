/** Makes the decision of one row, by the functions that the API's own changes use. */
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import { matchExpected } from '../../expected/match-by-hand.ts';
import { type Partner, readPartners } from '../../expected/read/read-partners.ts';
import { resolveMismatchByHand } from '../../mismatches/resolve-mismatch-by-hand.ts';
import { acceptMismatchOrSurplus } from '../../reconciliation/windows/accept-surplus.ts';
import { refuse } from '../../texts/refuse.ts';
import type { CellFault } from '../import-kind.ts';
import { type Case, subjectOf } from './read-cases.ts';

export type DecisionName = 'resolve' | 'accept' | 'match';
export type GivenDecision = {
  id: string;
  seen: string;
  decision: DecisionName;
  /** The name of the candidate, of `match` alone. */
  which: string;
  note: string | null;
};
type By = { actor: string; detail: string };
/** `which`: the id of what was matched. */
type Done = { changed: boolean; which: string | null };
type Fault = { fault: CellFault & { column: string } };

const RESOLUTIONS = { resolve: 'by_hand', accept: 'accepted' };

/**
 * Makes a decision about a locked mismatch, with its audit row. One that was made already changes nothing.
 * @throws ConfereError as the change that it is.
 */
export async function decideCase(inner: Context, found: Case, given: GivenDecision, by: By): Promise<Done | Fault> {
  const { mismatch } = found;
  const { id, decision } = given;
  const note = given.note?.trim() || undefined;
  if (decision === 'match') return await matchCase(inner, found, given, by);
  if (mismatch.state === 'resolved') {
    const isSame = mismatch.resolution === RESOLUTIONS[decision] && mismatch.note === (note ?? null);
    if (isSame && found.hash === given.seen) return { changed: false, which: null };
    throw refuse('mismatch_resolved');
  }
  if (found.hash !== given.seen) return { fault: { column: 'seen', kind: 'evidence_changed' } };
  const { actor, detail } = by;
  if (decision === 'resolve') await resolveMismatchByHand(inner, id, { actor, note });
  else await acceptMismatchOrSurplus(inner, id, { actor, note, actual: mismatch.actual });
  await audit(inner, { actor, action: `mismatches.${decision}`, target: id, detail });
  return { changed: true, which: null };
}

async function matchCase(inner: Context, found: Case, given: GivenDecision, by: By): Promise<Done | Fault> {
  const { mismatch, candidates, hash } = found;
  const subject = subjectOf(mismatch);
  const isOrder = mismatch.expected_payment_id !== null;
  const of = { transactions: isOrder ? [] : [subject], expected: isOrder ? [subject] : [] };
  const matched = findPartners((await readPartners(inner.db, 'matched', of)).get(subject) ?? [], given.which);
  const [known] = matched;
  // also where the follower has resolved the mismatch since
  if (known && matched.length === 1) return { changed: false, which: known.id };
  if (mismatch.state === 'resolved') throw refuse('mismatch_resolved');
  if (hash !== given.seen) return { fault: { column: 'seen', kind: 'evidence_changed' } };
  const [partner, other] = findPartners(candidates, given.which);
  if (!partner || other) return { fault: { column: 'which', kind: 'not_candidate' } };
  const [id, transactionId] = isOrder ? [subject, partner.id] : [partner.id, subject];
  const { actor, detail } = by;
  await matchExpected(inner, { id, transactionId, actor, note: given.note ?? '' });
  await audit(inner, { actor, action: 'expected.match', target: id, detail });
  return { changed: true, which: partner.id };
}

/** The partners that have a name: several where numbers of two sources are the same. */
function findPartners(partners: readonly Partner[], name: string): Partner[] {
  const byFullName = partners.filter(({ names, id }) => names[0] === name || id === name);
  return byFullName.length > 0 ? byFullName : partners.filter(({ names }) => names.includes(name));
}
