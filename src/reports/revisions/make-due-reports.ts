import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { addDays, type Day, lastDayBefore, listDays } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { describeError } from '../../log.ts';
import { classifyDay } from './classify-day.ts';
import { enqueueUnreportedMails } from './enqueue-unreported-mails.ts';
import { fillFigures } from './fill-figures.ts';
import { hasImproved, makeReport } from './make-report.ts';
import {
  type Learnt,
  type LearntCursor,
  listLateDays,
  listMatchedDays,
  readLearnt,
  readLearntCursor,
  storeLearntCursor,
  takeLearntCursor,
} from './read-learnt.ts';
import { listChangedDays } from './resolve-changed-day.ts';

/**
 * Makes every due report: yesterday's, missing ones since the first report (after downtime), and the next revision of days
 * whose newest one was partial, whose rows may have changed, or that were proven or closed since. Then enqueues mails of
 * revisions that people made, and adds the figures that revisions of earlier versions lack. A day's failure does not stop
 * the others.
 * @throws ConfereError `unavailable` at the end, if any day failed; the signal's reason if it was stopped between days.
 */
export async function makeDueReports(context: Context): Promise<{ made: Day[]; failed: Day[] }> {
  const made: Day[] = [];
  const failed: Day[] = [];
  const cursor = await readLearntCursor(context.db);
  const reached = await takeLearntCursor(context);
  for (const day of await listDueDays(context, cursor)) {
    context.signal.throwIfAborted();
    try {
      const { changed } = await makeReport(context, day, { isScheduled: true });
      if (changed) made.push(day);
    } catch (error) {
      failed.push(day);
      context.log.error({ error: describeError(error), day }, 'report failed; the next tick tries again');
    }
  }
  // a day that failed is found again
  if (failed.length === 0) await storeLearntCursor(context.db, reached);
  await enqueueUnreportedMails(context);
  await fillFigures(context);
  if (failed.length > 0) throw new ConfereError('unavailable', `reports failed for ${failed.join(', ')}: see the log`);
  return { made, failed };
}

/** Days without a report of the whole day first, because people wait for them; each group oldest first. */
async function listDueDays(context: Context, cursor: LearntCursor | undefined): Promise<Day[]> {
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  const newest = await context.db
    .selectFrom('reports')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('reports')
          .select(['day', eb.fn.max('revision').as('revision')])
          .groupBy('day')
          .as('newest'),
      (join) => join.onRef('newest.day', '=', 'reports.day').onRef('newest.revision', '=', 'reports.revision'),
    )
    .select(['reports.day', 'state', 'checked_entry_seq', 'checked_event_seq', 'checked_fact_change_seq'])
    .select(['cut_seal_position', 'cut_event_seq', 'made_at', 'proven', 'checked_event_count'])
    .select('checked_match_seq')
    .orderBy('reports.day')
    .execute();
  const learnt = await readLearnt(context.db, cursor);
  const due = new Set(selectDueDays(yesterday, newest, learnt, await readLatePositions(context)));
  const showsOrders = new Set(newest.flatMap((row) => (row.checked_match_seq === null ? [] : [row.day])));
  const more = [
    ...(await listStated(context, newest)),
    ...(await listLateDays(context.db, newest, cursor)),
    ...(await listChangedDays(context.db)),
    ...(await listMatchedDays(context.db, cursor)).filter((day) => showsOrders.has(day)),
    ...(await listImproved(
      context,
      newest.filter((row) => row.day <= yesterday && !due.has(row.day)),
    )),
  ];
  for (const day of more) if (day <= yesterday) due.add(day);
  const whole = new Set(newest.filter((row) => row.state !== 'partial').map((row) => row.day));
  const [others, missing] = [[...due].filter((day) => whole.has(day)), [...due].filter((day) => !whole.has(day))];
  return [...missing.sort(), ...others.sort()];
}

/** Days that were proven or closed since: at most twice for a day, however often the provider is read. */
async function listImproved(
  { db, clock, calendar }: Context,
  newest: { day: Day; state: string; proven: number }[],
): Promise<Day[]> {
  const improved: Day[] = [];
  for (const row of newest) {
    if (row.state === 'closed' && row.proven === 1) continue;
    if (hasImproved(row, await classifyDay(db, row.day, clock.now(), calendar))) improved.push(row.day);
  }
  return improved;
}

/** Days for which a person stated a balance after their newest revision. */
async function listStated(context: Context, newest: { day: Day; made_at: Date }[]): Promise<Day[]> {
  const madeAt = new Map(newest.map((row) => [row.day, row.made_at]));
  const rows = await context.db.selectFrom('statements').select(['at_wall', 'created_at']).execute();
  return rows.flatMap((row) => {
    const stated = lastDayBefore(row.at_wall);
    const made = madeAt.get(stated);
    return made && row.created_at > made ? [stated] : [];
  });
}

/** The newest position that sealed a late entry of each day. A late entry's number is below the cut. */
async function readLatePositions(context: Context): Promise<LatePosition[]> {
  const day = sql<string>`SUBSTR(entries.at_wall, 1, 10)`;
  const rows = await context.db
    .selectFrom('seal_stragglers')
    .innerJoin('entries', 'entries.seq', 'seal_stragglers.entry_seq')
    .select((eb) => [day.as('day'), eb.fn.max<number>('seal_stragglers.position').as('position')])
    .groupBy(day)
    .execute();
  return rows;
}

type Newest = {
  day: Day;
  state: string;
  checked_entry_seq: number;
  checked_event_seq: number;
  checked_fact_change_seq: number;
  cut_seal_position?: number | null;
};
type LatePosition = { day: Day; position: number };

/**
 * Selects the days whose rows may have changed. A new row of an earlier day changes the later days too: their opening
 * balance and open transactions. Pure.
 * @param newest the newest revision of each day, oldest day first. @param learnt oldest day first.
 */
export function selectDueDays(yesterday: Day, newest: Newest[], learnt: Learnt[], late: LatePosition[] = []): Day[] {
  const byDay = new Map(newest.map((row) => [row.day, row]));
  const first = newest[0]?.day ?? yesterday;
  let at = 0;
  let entrySeq = 0;
  let eventSeq = 0;
  let factChangeSeq = 0;
  return listDays(first < yesterday ? first : yesterday, yesterday).filter((day) => {
    for (let next = learnt[at]; next && next.day <= day; next = learnt[at]) {
      entrySeq = Math.max(entrySeq, next.entrySeq);
      eventSeq = Math.max(eventSeq, next.eventSeq);
      factChangeSeq = Math.max(factChangeSeq, next.factChangeSeq);
      at++;
    }
    const row = byDay.get(day);
    if (!row || row.state === 'partial') return true;
    if (entrySeq > row.checked_entry_seq || eventSeq > row.checked_event_seq) return true;
    if (factChangeSeq > row.checked_fact_change_seq) return true;
    return late.some((one) => one.day <= day && one.position > (row.cut_seal_position ?? 0));
  });
}
