import { createHash } from 'node:crypto';
import type { ObservedTransaction } from '../../domain/observation.ts';

/** Facts that identify a transaction and must not change. */
export const FIXED_FACTS = ['reference', 'extra', 'platform', 'createdWall'] as const;
type Key = (typeof FIXED_FACTS)[number];

/** Returns some fixed facts as evidence; an extra, which is free text, by its hash. */
export function pickFixedFacts(facts: Pick<ObservedTransaction, Key>, names: Key[]): object {
  const evidence = (name: Key): [string, string | null] => {
    if (name === 'createdWall') return ['date_created', facts.createdWall];
    return [name, name === 'extra' ? hashText(facts.extra) : facts[name]];
  };
  return Object.fromEntries(names.map(evidence));
}

function hashText(text: string | null): string | null {
  return text === null ? null : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Null is unknown and differs from nothing. */
export function differs<T>(stored: T | null, shown: T | null): boolean {
  return stored !== null && shown !== null && stored !== shown;
}
