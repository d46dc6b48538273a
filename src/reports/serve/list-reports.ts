import { isZoneAlertFiring } from '../../alerts/zone-alert.ts';
import type { Context } from '../../context.ts';
import { type Day, isDay } from '../../domain/calendar.ts';
import { refuseField } from '../../texts/refuse.ts';
import { isProven, type ReportState } from '../plan/report-plan.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { classifyDay } from '../revisions/classify-day.ts';
import { presentReport, type Report, type ReportRow, selectReports } from '../revisions/present-report.ts';

/**
 * Lists revisions, newest day first, then newest revision first.
 * @param page.after the cursor of the page before.
 * @param platform limits the figures to one platform.
 * @throws ConfereError `invalid_request` for an unknown platform.
 */
export async function listReports(
  context: Context,
  page: { limit: number; after: string | undefined },
  platform?: string,
): Promise<{ reports: Report[]; next: string | null }> {
  const [day, revision] = readCursor(page.after);
  if (platform !== undefined) await assertPlatform(context.db, platform);
  const rows = await selectReports(context.db)
    .$if(day !== undefined, (query) =>
      query.where((eb) =>
        eb.or([eb('day', '<', day ?? ''), eb.and([eb('day', '=', day ?? ''), eb('revision', '<', revision ?? 0)])]),
      ),
    )
    .orderBy('day', 'desc')
    .orderBy('revision', 'desc')
    .limit(page.limit + 1)
    .execute();
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const newestOf = await findNewest(
    context,
    shown.map((row) => row.day),
  );
  const isInDoubt = await isZoneAlertFiring(context.db);
  const reports: Report[] = [];
  for (const row of shown) {
    // older revisions, and those of a running day, keep their state; the state of the newest one's day may have risen
    const isLive = newestOf.get(row.day) === row.revision && row.state !== 'partial';
    const now = isLive ? await classifyNow(context, row, isInDoubt) : undefined;
    reports.push(presentReport(row, now, platform));
  }
  return { reports, next: rows.length > page.limit && last ? `${last.day}_${last.revision}` : null };
}

async function findNewest(context: Context, days: string[]): Promise<Map<string, number>> {
  if (days.length === 0) return new Map();
  const rows = await context.db
    .selectFrom('reports')
    .select(['day', (eb) => eb.fn.max('revision').as('revision')])
    .where('day', 'in', days)
    .groupBy('day')
    .execute();
  return new Map(rows.map((row) => [row.day, Number(row.revision)]));
}

/** The present state and proof of a day, which the schedule's next revision will show. */
async function classifyNow(
  { db, clock, calendar }: Context,
  row: ReportRow,
  isInDoubt: boolean,
): Promise<{ state: ReportState; proven: boolean }> {
  const isClosed = row.state === 'closed';
  if (isClosed && row.proven === 1) return { state: isInDoubt ? 'provisional' : 'closed', proven: true };
  const classification = await classifyDay(db, row.day, clock.now(), calendar);
  const proven = row.proven === 1 || isProven(classification);
  return { state: isClosed && !isInDoubt ? 'closed' : classification.state, proven };
}

/** Parses `2026-11-20_3`. @throws ConfereError `invalid_request` for any other cursor. */
function readCursor(after: string | undefined): [Day, number] | [] {
  if (after === undefined) return [];
  const match = /^(\d{4}-\d\d-\d\d)_(\d{1,9})$/.exec(after);
  if (match?.[1] && isDay(match[1])) return [match[1], Number(match[2])];
  throw refuseField('cursor', 'cursor_unknown');
}
