import type { Context } from '../../context.ts';
import { addDays, DAY_MS } from '../../domain/calendar.ts';
import { byLabel, type Reading, secondsSince } from '../../metrics/reading.ts';
import { readWebhookDays } from './count-webhook-days.ts';
import { readCoverage } from './read-coverage.ts';
import { lossRate } from './read-webhook-days.ts';

const RUN_STATES = ['queued', 'running', 'complete', 'incomplete', 'failed'];
/** The newest runs, which are read: the timetable makes some 320 a day. */
const RUNS_MAX = 2_000;

/** Proven days. */
export async function readCoverageMetrics(context: Context): Promise<Reading[]> {
  const { days, proven, oldestUnproven } = await readCoverage(context);
  const { calendar, clock } = context;
  const endedAt = oldestUnproven === null ? undefined : calendar.endOfDay(oldestUnproven);
  return [
    {
      name: 'confere_coverage_unproven',
      help: 'How many of the last 95 ended days are not proven, read completely or counted.',
      values: days - proven,
    },
    {
      name: 'confere_coverage_oldest_unproven_age_seconds',
      help: 'Time since the oldest unproven day ended; 0 when all are proven.',
      values: secondsSince(endedAt, clock.now()),
    },
  ];
}

/** How the provider announced the changes of today and yesterday. */
export async function readAnnouncementMetrics(context: Context): Promise<Reading[]> {
  const today = context.calendar.dayOf(context.clock.now());
  const days = await readWebhookDays(context, { from: addDays(today, -1), to: today });
  const named = days.map((day, index) => ({ day, labels: { day: index === 0 ? 'yesterday' : 'today' } }));
  return [
    {
      name: 'confere_webhook_loss_ratio',
      help: "Share of the day's changes with an expected webhook, past their grace, that no webhook announced.",
      values: named.map(({ day, labels }) => ({ labels, value: Number(lossRate(day) ?? 0) })),
    },
    {
      name: 'confere_webhook_lateness_seconds',
      help: "Time from a change to the webhook that announced it, for the day's changes.",
      values: named.flatMap(({ day, labels }) => [
        { labels: { ...labels, percentile: '50' }, value: day.lateS?.p50 ?? 0 },
        { labels: { ...labels, percentile: '95' }, value: day.lateS?.p95 ?? 0 },
      ]),
    },
  ];
}

/** The runs of a day by state, and the newest one that read the running day. */
export async function readRunMetrics({ db, calendar, clock }: Context): Promise<Reading[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['state', 'how', 'platform', 'created_at', 'started_at', 'to_day'])
    .orderBy('seq', 'desc')
    .limit(RUNS_MAX)
    .execute();
  const since = new Date(clock.now().getTime() - DAY_MS);
  const counts = new Map<string, number>();
  for (const { state, created_at } of rows) {
    const isActive = state === 'queued' || state === 'running';
    if (isActive || created_at >= since) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const today = rows.find(
    // a run with `open` reads single days
    ({ state, how, platform, started_at, to_day }) =>
      state === 'complete' && how !== 'open' && !platform && started_at && to_day >= calendar.dayOf(started_at),
  );
  return [
    {
      name: 'confere_runs',
      help: 'Reconciliation runs by state: all that are queued or running, the others of the last 24 hours.',
      values: byLabel('state', RUN_STATES, counts),
    },
    {
      name: 'confere_runs_today_complete_timestamp_seconds',
      help: 'Start of the newest complete run that read the day on which it started; 0 before the first.',
      values: (today?.started_at?.getTime() ?? 0) / 1000,
    },
  ];
}
