/**
 * Keeps `webhook_days`: how many webhooks of each of the last days came, and how late. The watch counts; pages, the API and
 * metrics read.
 *
 * A day's figures change less and less: a webhook comes late, a run finds a change whose webhook was lost, a run of more days
 * finds another one weeks later. So a day is counted again whenever its age has doubled, about ten times in all.
 */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { countDay, type WebhookDayStats } from './read-webhook-days.ts';

/** Days that are kept up to date. */
export const WEBHOOK_DAYS_COUNTED = 92;
/** The current day, and one that ended just now, is counted again after this time. */
const RECENT_MS = 5 * 60_000;
/** No further day is begun after this time: the watch has other steps, each minute. */
const COUNT_MS_MAX = 5_000;

export type CountedWebhookDay = WebhookDayStats & { countedAt: Date };

/**
 * Counts the days that are due, the newest first, for at most COUNT_MS_MAX and one day more.
 * @returns how many days it counted.
 */
export async function countWebhookDays(context: Context): Promise<number> {
  const { calendar, clock, timers, signal, webhooksSince } = context;
  const today = calendar.dayOf(clock.now());
  const oldest = addDays(today, 1 - WEBHOOK_DAYS_COUNTED);
  const since = calendar.dayOf(webhooksSince);
  const known = new Map(
    (await readCountedDays(context.db, { from: oldest, to: today })).map(({ day, countedAt }) => [day, countedAt]),
  );
  const startedMs = timers.monotonicMs();
  let counted = 0;
  for (const day of listDays(oldest, today)
    .filter((one) => one >= since)
    .toReversed()) {
    if (timers.monotonicMs() - startedMs > COUNT_MS_MAX) break;
    signal.throwIfAborted();
    const endsAt = calendar.endOfDay(day);
    if (!isCountDue({ now: clock.now(), endsAt, countedAt: known.get(day) })) continue;
    await countAndStore(context, day);
    counted++;
  }
  return counted;
}

/** Whether a day has to be counted (again): after RECENT_MS, later when its age has doubled. */
export function isCountDue({
  now,
  endsAt,
  countedAt,
}: {
  now: Date;
  endsAt: Date;
  countedAt: Date | undefined;
}): boolean {
  if (countedAt === undefined) return true;
  const ageMs = countedAt.getTime() - endsAt.getTime();
  return now.getTime() - countedAt.getTime() >= Math.max(RECENT_MS, ageMs);
}

/** The counted days of a range, both ends included, the oldest first. A day that was not counted is missing. */
export async function readCountedDays(db: Reader, range: { from: Day; to: Day }): Promise<CountedWebhookDay[]> {
  const rows = await db
    .selectFrom('webhook_days')
    .selectAll()
    .where('day', '>=', range.from)
    .where('day', '<=', range.to)
    .orderBy('day')
    .execute();
  return rows.map((row) => ({
    day: row.day,
    announced: row.announced,
    lost: row.lost,
    waiting: row.waiting,
    lateS:
      row.late_p50_s === null || row.late_p95_s === null || row.late_max_s === null
        ? null
        : { p50: row.late_p50_s, p95: row.late_p95_s, max: row.late_max_s },
    countedAt: row.counted_at,
  }));
}

/** The days of a range, both ends included, the oldest first. A day that the watch has not counted is counted now. */
export async function readWebhookDays(context: Context, range: { from: Day; to: Day }): Promise<WebhookDayStats[]> {
  const known = new Map((await readCountedDays(context.db, range)).map((one) => [one.day, one]));
  const days: WebhookDayStats[] = [];
  for (const day of listDays(range.from, range.to)) days.push(known.get(day) ?? (await countDay(context, day)));
  return days;
}

async function countAndStore(context: Context, day: Day): Promise<void> {
  // read first: what changes while the day is counted is counted again later
  const countedAt = context.clock.now();
  const { announced, lost, waiting, lateS } = await countDay(context, day);
  const row = {
    announced,
    lost,
    waiting,
    late_p50_s: lateS?.p50 ?? null,
    late_p95_s: lateS?.p95 ?? null,
    late_max_s: lateS?.max ?? null,
    counted_at: countedAt,
  };
  await context.db
    .insertInto('webhook_days')
    .values({ day, ...row })
    .onDuplicateKeyUpdate(row)
    .execute();
}
