import type { Context } from '../context.ts';
import { MISMATCH_SEVERITY } from '../domain/mismatch.ts';
import { byLabel, type Reading } from '../metrics/reading.ts';
import { readOpenMismatches } from './read-open-mismatches.ts';

/** Unresolved mismatches by kind. */
export async function readMismatchMetrics({ db }: Context): Promise<Reading[]> {
  const counts = new Map<string, number>();
  const stakes = new Map<string, number>();
  for (const { kind, count, stakeCents } of await readOpenMismatches(db)) {
    counts.set(kind, (counts.get(kind) ?? 0) + count);
    stakes.set(kind, (stakes.get(kind) ?? 0) + Number(stakeCents));
  }
  const kinds = Object.keys(MISMATCH_SEVERITY);
  return [
    { name: 'confere_mismatches_open', help: 'Open mismatches by kind.', values: byLabel('kind', kinds, counts) },
    {
      name: 'confere_mismatches_stake_cents',
      help: 'Sum at stake in open mismatches, in cents, by kind.',
      values: byLabel('kind', kinds, stakes),
    },
  ];
}
