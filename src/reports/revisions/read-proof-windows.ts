import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { LATE_DAYS, type ProvenWindow } from '../../domain/late-days.ts';

/**
 * The newest complete reading and the newest count of each range of days that may prove the reports of these days: those of
 * the days, and of the 95 before. A day may have hundreds of readings. With one state a statement, each reads only an index.
 */
export async function readProofWindows(
  db: Reader,
  { from, to }: { from: Day; to: Day },
): Promise<(ProvenWindow & { isWhole: boolean })[]> {
  const found = await Promise.all(
    (['complete', 'counted'] as const).map(async (state) => {
      const rows = await db
        .selectFrom('run_windows')
        .select(['from_day', 'to_day', (eb) => eb.fn.max('asked_at').as('asked_at')])
        .where('state', '=', state)
        .where('platform', 'is', null)
        .where('from_day', '<=', to)
        .where('to_day', '>=', addDays(from, -LATE_DAYS))
        .groupBy(['from_day', 'to_day'])
        .execute();
      return rows.flatMap((row) =>
        row.asked_at
          ? [{ from: row.from_day, to: row.to_day, askedAt: new Date(row.asked_at), isWhole: state === 'complete' }]
          : [],
      );
    }),
  );
  return found.flat();
}
