import type { Context } from '../src/context.ts';
import { makeDueReports } from '../src/reports/revisions/make-due-reports.ts';

/** Yesterday's report, those of days that were missed, and new revisions of days that have changed. */
export async function makeDailyReports(context: Context): Promise<void> {
  await makeDueReports(context);
}
