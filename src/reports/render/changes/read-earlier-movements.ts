import { addDays } from '../../../domain/calendar.ts';
import { type AnyPlan, toWallTimeBounds } from '../../plan/report-plan.ts';
import { readCutEntries } from '../../read/read-cut-entries.ts';
import { type Movement, readMovements } from '../../read/read-movements.ts';
import type { ReportWork } from '../report-work.ts';
import { listMovedDays } from './list-changed-days.ts';

/**
 * Reads the movements that changed closed months: those before the file's first day that its cut holds, and the cut of the last
 * close does not. They add up to *Ajustes de meses anteriores*. A file that follows no closed month has none.
 * @returns them in order of time, in chunks.
 */
export async function* readEarlierMovements({
  db,
  plan,
  scope,
  factsAtCut,
}: Pick<ReportWork<AnyPlan>, 'db' | 'plan' | 'scope' | 'factsAtCut'>): AsyncGenerator<Movement[], void, undefined> {
  const base = 'days' in plan ? plan.base : undefined;
  if (!base) return;
  const known = await readCutEntries(db, base.cut);
  const { start: end, platform } = scope;
  for (const day of await listMovedDays(db, { end, platform, from: known, to: scope })) {
    const bounds = toWallTimeBounds(day, addDays(day, 1));
    yield* readMovements(db, { ...scope, ...bounds, known }, factsAtCut);
  }
}
