import { createHash } from 'node:crypto';
import type { ObservedTransaction } from '../../domain/observation.ts';

/** What a transaction is found by; none may change. */
export const FIXED_FACTS = ['reference', 'extra', 'platform', 'createdWall'] as const;
type Key = (typeof FIXED_FACTS)[number];

/** What a look shows of some keys, as evidence: an extra, which is free text, stands in it by its hash. */
export function pickFixedFacts(facts: Pick<ObservedTransaction, Key>, names: Key[]): object {
  const evidence = (name: Key): [string, string | null] => {
    if (name === 'createdWall') return ['date_created', facts.createdWall];
    // extra is free text that may name a person: it is shown by its hash
    return [name, name === 'extra' ? hashText(facts.extra) : facts[name]];
  };
  return Object.fromEntries(names.map(evidence));
}

function hashText(text: string | null): string | null {
  return text === null ? null : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Absent is unknown, so it differs from nothing. */
export function differs<T>(held: T | null, shown: T | null): boolean {
  return held !== null && shown !== null && held !== shown;
}
