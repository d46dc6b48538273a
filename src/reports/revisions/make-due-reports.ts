import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { describeError } from '../../log.ts';
import { WINDOW_EVENT_COUNT } from '../plan/read-event-window.ts';
import { DIGESTED_FACTS } from '../read/read-facts-at-cut.ts';
import { classifyDay } from './classify-day.ts';
import { enqueueUnreportedMails } from './enqueue-unreported-mails.ts';
import { hasImproved, makeReport } from './make-report.ts';
import { listChangedDays } from './resolve-changed-day.ts';

/**
 * Makes every report that is due: yesterday's, each day since the first report that has none (there was downtime),
 * those whose newest revision was made while the day was running, those whose rows may have changed since, and those of
 * days that were proven or closed since. Then the mail is owed of what people had made meanwhile.
 * One day's failure does not keep the others from being made.
 * @throws ConfereError `unavailable` at the end, when any day failed.
 */
export async function makeDueReports(context: Context): Promise<{ made: Day[]; failed: Day[] }> {
  const made: Day[] = [];
  const failed: Day[] = [];
  for (const day of await listDueDays(context)) {
    if (context.signal.aborted) break;
    try {
      const { changed } = await makeReport(context, day, { isScheduled: true });
      if (changed) made.push(day);
    } catch (error) {
      failed.push(day);
      context.log.error({ error: describeError(error), day }, 'a report could not be made');
    }
  }
  await enqueueUnreportedMails(context);
  if (failed.length > 0) throw new ConfereError('unavailable', `no report could be made of ${failed.join(', ')}`);
  return { made, failed };
}

/** Those without a report of the whole day first, since people wait for it; of these and of the others the oldest first. */
async function listDueDays(context: Context): Promise<Day[]> {
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  const newest = await context.db
    .selectFrom('reports')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('reports')
          .select(['day', eb.fn.max('revision').as('revision')])
          .groupBy('day')
          .as('top'),
      (join) => join.onRef('top.day', '=', 'reports.day').onRef('top.revision', '=', 'reports.revision'),
    )
    .select(['reports.day', 'state', 'checked_entry_seq', 'checked_event_seq', 'checked_fact_change_seq'])
    .select(['cut_seal_position', 'made_at', 'proven', 'checked_event_count', WINDOW_EVENT_COUNT.as('event_count')])
    .orderBy('reports.day')
    .execute();
  const learnt = await readLearnt(context);
  const due = new Set(selectDueDays(yesterday, newest, learnt, await readLatePositions(context)));
  const cameLate = newest.filter(
    (row) => row.checked_event_count !== null && row.event_count !== row.checked_event_count,
  );
  const more = [
    ...(await listStated(context, newest)),
    ...cameLate.map((row) => row.day),
    ...(await listChangedDays(context.db)),
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

/** Days that were proven or closed since: each at most twice in its life, however often the provider is read. */
async function listImproved(
  { db, clock, calendar }: Context,
  newest: { day: Day; state: string; proven: number }[],
): Promise<Day[]> {
  const improved: Day[] = [];
  for (const row of newest) {
    if (row.state === 'closed' && row.proven === 1) continue;
    const judgement = await classifyDay(db, row.day, clock.now(), calendar);
    if (hasImproved(row, { ...judgement, day: row.day, calendar })) improved.push(row.day);
  }
  return improved;
}

/** Days of which a person stated a balance after their newest revision was made. */
async function listStated(context: Context, newest: { day: Day; made_at: Date }[]): Promise<Day[]> {
  const madeAt = new Map(newest.map((row) => [row.day, row.made_at]));
  const rows = await context.db.selectFrom('statements').select(['at_wall', 'created_at']).execute();
  return rows.flatMap((row) => {
    const day = row.at_wall.slice(0, 10);
    // midnight is the end of the day before
    const of = row.at_wall.endsWith(' 00:00:00') ? addDays(day, -1) : day;
    const made = madeAt.get(of);
    return made && row.created_at > made ? [of] : [];
  });
}

/** The newest position that sealed an entry of a day late, below a number that was sealed: no number tells of it. */
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
/** The newest row learnt of each day that something happened in. */
type Learnt = { day: Day; entrySeq: number; eventSeq: number; factChangeSeq: number };

/**
 * Pure. What is learnt of an earlier day also changes the later ones: their opening balance, and what was left open.
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

const NOTHING = { entrySeq: 0, eventSeq: 0, factChangeSeq: 0 };

/** From the indexes by time alone; facts by the day on which their transaction was created. */
async function readLearnt(context: Context): Promise<Learnt[]> {
  const days = new Map<Day, Learnt>();
  const add = (day: Day, top: Partial<Learnt>): void => {
    days.set(day, { ...NOTHING, ...days.get(day), day, ...top });
  };
  for (const table of ['entries', 'events'] as const) {
    const rows = await context.db
      .selectFrom(table)
      .select([sql<string>`SUBSTR(at_wall, 1, 10)`.as('day'), sql<number>`MAX(seq)`.as('top')])
      .groupBy(sql`SUBSTR(at_wall, 1, 10)`)
      .execute();
    for (const { day, top } of rows) add(day, table === 'entries' ? { entrySeq: top } : { eventSeq: top });
  }
  const facts = await context.db
    .selectFrom('fact_changes')
    .innerJoin('transactions', 'transactions.seq', 'fact_changes.transaction_seq')
    .select([sql<string>`SUBSTR(created_wall, 1, 10)`.as('day'), sql<number>`MAX(fact_changes.seq)`.as('top')])
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .groupBy(sql`SUBSTR(created_wall, 1, 10)`)
    .execute();
  for (const { day, top } of facts) add(day, { factChangeSeq: top });
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}
