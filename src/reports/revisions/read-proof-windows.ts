import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { LATE_DAYS, type ProvenWindow } from '../../domain/late-days.ts';
import { selectNewestWindows, toProvenWindows } from '../../reconciliation/numbers/read-coverage.ts';

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
      const rows = await selectNewestWindows(db)
        .where('state', '=', state)
        .where('from_day', '<=', to)
        .where('to_day', '>=', addDays(from, -LATE_DAYS))
        .execute();
      return toProvenWindows(rows).map((window) => ({ ...window, isWhole: state === 'complete' }));
    }),
  );
  return found.flat();
}
