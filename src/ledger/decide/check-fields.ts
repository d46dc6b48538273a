import type { MismatchKind } from '../../domain/mismatch.ts';
import type { Observation } from '../../domain/observation.ts';

type Look = Pick<Observation, 'askedAt' | 'unreadable'>;
type Before = { askedAt: Date } | undefined;

/** The `field_unreadable` of a look; an old look says nothing of what newer ones could read. Pure. */
export function checkFields(before: Before, { unreadable, askedAt }: Look) {
  if (!unreadable || (before && askedAt < before.askedAt)) return [];
  return [{ kind: 'field_unreadable' as const, expected: null, actual: { fields: unreadable.fields } }];
}

/** The same kind where a look shows it to be over: it could read every field. Pure. */
export function listReadableAgain(before: Before, { unreadable, askedAt }: Look): 'field_unreadable'[] {
  return before !== undefined && !unreadable && askedAt >= before.askedAt ? ['field_unreadable'] : [];
}

type JudgedLook = {
  found: { kind: MismatchKind; expected: unknown; actual: unknown }[];
  over: MismatchKind[];
  isShow: boolean;
};

/**
 * What a batch's looks say of the fields: what could not be read, and whether that is over by the newest look that says so.
 * A show that can read what a list could not says nothing of the list: where the two differ for good, the mismatch would
 * end and reopen with every look.
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
