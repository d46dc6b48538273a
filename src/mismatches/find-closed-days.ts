import type { Context } from '../context.ts';
import { compileOnce } from '../database/compile-once.ts';
import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';

const selectReports = compileOnce((db, { days }: { days: Day[] }) =>
  db.selectFrom('reports').select(['day', 'revision', 'made_at']).where('day', 'in', days).orderBy('revision'),
);

/**
 * Returns one mismatch for each changed day that has a report, until the next revision. A revision made while its day
 * was running does not count, since it never claimed to be complete.
 */
export async function findClosedDays(
  context: Context,
  db: Reader,
  changes: { atWall: string; runSeq: number | undefined }[],
): Promise<FoundMismatch[]> {
  const today = context.calendar.dayOf(context.clock.now());
  const days = [...new Set(changes.map((change) => change.atWall.slice(0, 10)))].filter((day) => day < today);
  if (days.length === 0) return [];
  const { rows: reports } = await selectReports(db, { days });
  const newest = new Map<Day, (typeof reports)[number]>(reports.map((report) => [report.day, report]));
  return [...newest.values()]
    .filter((report) => report.made_at >= context.calendar.endOfDay(report.day))
    .map((report) => {
      const runSeq = changes.find((change) => change.atWall.startsWith(report.day))?.runSeq;
      return {
        kind: 'closed_day_changed' as const,
        scope: report.day,
        expected: { revision: report.revision },
        actual: { day: report.day, changed: true },
        ...(runSeq === undefined ? {} : { runSeq }),
      };
    });
}
