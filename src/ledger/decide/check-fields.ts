import type { MismatchKind } from '../../domain/mismatch.ts';
import type { Observation } from '../../domain/observation.ts';

type Look = Pick<Observation, 'askedAt' | 'unreadable'>;
type Before = { askedAt: Date } | undefined;

/** Returns the `field_unreadable` of an observation; an observation older than the stored one is ignored. Pure. */
export function checkFields(before: Before, { unreadable, askedAt }: Look) {
  if (!unreadable || (before && askedAt < before.askedAt)) return [];
  return [{ kind: 'field_unreadable' as const, expected: null, actual: { fields: unreadable.fields } }];
}

/** Returns `field_unreadable` where an observation resolves it: it could read every field. Pure. */
export function listReadableAgain(before: Before, { unreadable, askedAt }: Look): 'field_unreadable'[] {
  return before !== undefined && !unreadable && askedAt >= before.askedAt ? ['field_unreadable'] : [];
}

type JudgedLook = {
  found: { kind: MismatchKind; expected: unknown; actual: unknown }[];
  over: MismatchKind[];
  isShow: boolean;
};

/**
 * Evaluates the fields of a batch's observations: which could not be read, and whether the newest relevant observation
 * resolves the mismatch. A show that reads a field does not resolve what a list could not read: where the two differ
 * permanently, the mismatch would resolve and reopen with every observation.
 */
export function evaluateFields(looks: JudgedLook[]) {
  const isAbout = ({ kind }: { kind: MismatchKind }): boolean => kind === 'field_unreadable';
  const newest = looks.findLast(({ over, found }) => over.includes('field_unreadable') || found.some(isAbout));
  const found = looks.flatMap((look) =>
    look.found
      .filter(isAbout)
      .map((one) => ({ ...one, actual: { ...(one.actual as object), shown_by: look.isShow ? 'show' : 'list' } })),
  );
  return {
    found,
    isOver: newest?.over.includes('field_unreadable') ?? false,
    leaves: (actual: string | null): boolean => newest?.isShow === true && isOfList(actual),
  };
}

function isOfList(actual: string | null): boolean {
  return (JSON.parse(actual ?? '{}') as { shown_by?: string }).shown_by === 'list';
}
