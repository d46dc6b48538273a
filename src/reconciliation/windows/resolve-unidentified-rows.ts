import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { type Day, listDays } from '../../domain/calendar.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';
import type { WindowRef } from './run-ref.ts';

/**
 * Resolves `row_refused` of rows without a readable id, where all of the row's days were read completely since. A
 * reading that meets such a row is never complete. Call it once the window is stored as complete.
 */
export async function resolveUnidentifiedRows(trx: Transaction<Database>, window: WindowRef, now: Date): Promise<void> {
  const open = await trx
    .selectFrom('mismatches')
    .leftJoin('runs', 'runs.seq', 'mismatches.run_seq')
    .select(['scope', 'actual', 'opened_at', 'from_day', 'to_day'])
    .where('open_scope', '>=', 'row_refused row:')
    .where('open_scope', '<', 'row_refused row;')
    .execute();
  const over: { kind: 'row_refused'; scope: string }[] = [];
  for (const { scope, actual, opened_at: openedAt, ...run } of open) {
    // earlier versions stored the run that met the row, not its days
    const ofRun = run.from_day && run.to_day ? { from: run.from_day, to: run.to_day } : undefined;
    const { days = ofRun } = JSON.parse(actual ?? '{}') as { days?: { from: Day; to: Day } };
    if (!days || days.to < window.fromDay || days.from > window.toDay) continue;
    const readings = await trx
      .selectFrom('run_windows')
      .select(['from_day', 'to_day'])
      .where('state', '=', 'complete')
      .where('platform', 'is', null)
      .where('from_day', '<=', days.to)
      .where('to_day', '>=', days.from)
      .where('asked_at', '>=', openedAt)
      .execute();
    const isRead = (day: Day): boolean => readings.some((one) => one.from_day <= day && one.to_day >= day);
    if (listDays(days.from, days.to).every(isRead)) over.push({ kind: 'row_refused', scope });
  }
  await resolveMismatches(trx, over, 'fresh_evidence', now);
}
