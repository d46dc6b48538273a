import type { Observation } from '../domain/observation.ts';

type Look = Pick<Observation, 'askedAt' | 'unreadable'>;
type Before = { askedAt: Date } | undefined;

/** The `field_unreadable` of a look; an old look says nothing of what newer ones could read. Pure. */
export function judgeFields(before: Before, { unreadable, askedAt }: Look) {
  if (!unreadable || (before && askedAt < before.askedAt)) return [];
  return [{ kind: 'field_unreadable' as const, expected: null, actual: { fields: unreadable.fields } }];
}

/** The same kind where a look shows it to be over: it could read every field. Pure. */
export function listReadable(before: Before, { unreadable, askedAt }: Look): 'field_unreadable'[] {
  return before !== undefined && !unreadable && askedAt >= before.askedAt ? ['field_unreadable'] : [];
}
