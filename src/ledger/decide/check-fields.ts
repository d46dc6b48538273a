import type { MismatchKind } from '../../domain/mismatch.ts';
import type { Observation } from '../../domain/observation.ts';

type Observed = Pick<Observation, 'askedAt' | 'unreadable'>;
type Before = { askedAt: Date } | undefined;

/** Returns the `field_unreadable` of an observation; an observation older than the stored one is ignored. Pure. */
export function checkFields(before: Before, { unreadable, askedAt }: Observed) {
  if (!unreadable || (before && askedAt < before.askedAt)) return [];
  return [{ kind: 'field_unreadable' as const, expected: null, actual: { fields: unreadable.fields } }];
}

/** Returns `field_unreadable` where an observation resolves it: it could read every field. Pure. */
export function listReadableAgain(before: Before, { unreadable, askedAt }: Observed): 'field_unreadable'[] {
  return before !== undefined && !unreadable && askedAt >= before.askedAt ? ['field_unreadable'] : [];
}

type FieldEvidence = {
  found: { kind: MismatchKind; expected: unknown; actual: unknown }[];
  resolved: MismatchKind[];
  isShow: boolean;
};

/**
 * Evaluates the fields of a batch's observations: which could not be read, and whether the newest relevant observation
 * resolves the mismatch. A show that reads a field does not resolve what a list could not read: where the two differ
 * permanently, the mismatch would resolve and reopen with every observation.
 */
export function evaluateFields(observations: FieldEvidence[]) {
  const isAbout = ({ kind }: { kind: MismatchKind }): boolean => kind === 'field_unreadable';
  const newest = observations.findLast(
    ({ resolved, found }) => resolved.includes('field_unreadable') || found.some(isAbout),
  );
  const found = observations.flatMap((observation) =>
    observation.found.filter(isAbout).map((one) => ({
      ...one,
      actual: { ...(one.actual as object), shown_by: observation.isShow ? 'show' : 'list' },
    })),
  );
  return {
    found,
    isResolved: newest?.resolved.includes('field_unreadable') ?? false,
    ignores: (actual: string | null): boolean => newest?.isShow === true && isOfList(actual),
  };
}

function isOfList(actual: string | null): boolean {
  return (JSON.parse(actual ?? '{}') as { shown_by?: string }).shown_by === 'list';
}
