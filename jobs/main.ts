/**
 * The timetable: the work of each job. Their cron expressions are environment variables (src/timetable/list-jobs.ts). Times
 * are the provider's wall clock. A tick runs on one of the replicas that see it (run-tick.ts); another one runs it again if
 * that process dies or loses it. A job never runs twice at once. Each job but the watch makes up its newest missed tick.
 */
import { CronJob } from 'cron';
import type { Context } from '../src/context.ts';
import { LOOKBACK_DAYS } from '../src/domain/late-days.ts';
import { describeError } from '../src/log.ts';
import { makeDayManifests } from '../src/manifests/make-day-manifests.ts';
import { jobTicks } from '../src/metrics/metrics.ts';
import { checkAllBooks, checkNewBooks } from '../src/proof/check-books.ts';
import { makeDueReports } from '../src/reports/revisions/make-due-reports.ts';
import { findDueTimes } from '../src/timetable/find-due-times.ts';
import { WHOLE_DAYS } from '../src/timetable/find-next-reading.ts';
import { type Job, type JobName, listJobs } from '../src/timetable/list-jobs.ts';
import { readFirstStart, readLastTicks } from '../src/timetable/read-job-states.ts';
import { writeNightly } from '../src/tlog/recorded.ts';
import { callHeartbeatUrl } from './call-heartbeat-url.ts';
import { dropOldNightly } from './drop-old.ts';
import { reconcileDays, reconcileOpenDays, reconcileUnclosedDays } from './reconcile-days.ts';
import { retryAbandonedTicks, runTick, type Work } from './run-tick.ts';
import { watch } from './watch.ts';

/** A tick that is late by less, after a busy moment or a sleeping machine, still runs. */
const LATE_MS_MAX = 29_000;
/** A tick that is earlier by the database's clock waits: a report begun before midnight would be of the wrong day. */
const EARLY_MS_MAX = 1_000;
/** Interval between searches for missed and abandoned ticks. */
export const SEARCH_EVERY_MS = 20_000;

/** The jobs that read days at the provider read older days less often, and by counts in between. Together they close each day. */
export const WORK: Record<JobName, Work> = {
  reconcile_recent: (c) => reconcileDays(c, 'reconcile_recent', WHOLE_DAYS.reconcile_recent, 'recent'),
  reconcile_week: (c) => reconcileDays(c, 'reconcile_week', 7, 'count'),
  reconcile_month: (c) => reconcileDays(c, 'reconcile_month', WHOLE_DAYS.reconcile_month, 'read'),
  reconcile_counts: async (c) => {
    await reconcileDays(c, 'reconcile_counts', LOOKBACK_DAYS, 'count');
    await reconcileUnclosedDays(c, 'reconcile_unclosed');
  },
  reconcile_quarter: (c) => reconcileDays(c, 'reconcile_quarter', WHOLE_DAYS.reconcile_quarter, 'read'),
  reconcile_open: (c) => reconcileOpenDays(c, 'reconcile_open', LOOKBACK_DAYS),
  watch: async (c) => {
    await watch(c);
    await callHeartbeatUrl(c);
  },
  daily_report: makeDueReports,
  day_manifests: (c) => makeDayManifests(c),
  check_books: (c) => checkNewBooks(c),
  check_all_books: checkAllBooks,
  manifest: writeNightly,
  retention: dropOldNightly,
};

/** Starts the jobs. Disposal stops the timetable and waits for running ticks. */
export function startJobScheduler(context: Context): AsyncDisposable {
  const jobs = listJobs(context.config).filter((job) => job.cron !== 'off');
  for (const { name } of jobs)
    for (const outcome of ['done', 'failed', 'lost', 'skipped']) jobTicks.inc({ name, outcome }, 0);
  const running = new Set<Promise<void>>();
  const guard = (name: string, work: () => Promise<unknown>): Promise<void> => {
    const tick = work()
      .then(
        () => undefined,
        (error: unknown) =>
          context.log.error({ error: describeError(error), job: name }, 'job tick failed to start or to end'),
      )
      .finally(() => running.delete(tick));
    running.add(tick);
    return tick;
  };
  const crons = jobs.map(({ name, cron }) =>
    CronJob.from({
      cronTime: cron,
      timeZone: context.config.PROVIDER_TIME_ZONE,
      threshold: LATE_MS_MAX,
      onTick: () => {
        const now = context.clock.now();
        const dueAt = findDueTime(now, cron, context.config.PROVIDER_TIME_ZONE);
        // the search runs it once it is due; the watch is not made up
        if (name !== 'watch' && dueAt.getTime() - now.getTime() > EARLY_MS_MAX) return;
        void guard(name, () => runTick(context, { job: name, dueAt }, WORK[name]));
      },
      start: true,
    }),
  );
  const workOf = (name: string): Work | undefined => {
    const job = jobs.find((one) => one.name === name);
    return job && WORK[job.name];
  };
  const search = (): void => {
    // not the watch: after a downtime it would report the others as overdue before they have begun
    const missable = jobs.filter(({ name }) => name !== 'watch');
    void guard('search', async () => {
      const missed = await findMissedTicks(context, missable);
      await Promise.all(missed.map(({ job, dueAt }) => guard(job, () => runTick(context, { job, dueAt }, WORK[job]))));
    });
    void guard('retry', () => retryAbandonedTicks(context, workOf));
  };
  search();
  const searches = context.timers.every(SEARCH_EVERY_MS, search);
  return {
    async [Symbol.asyncDispose]() {
      searches.cancel();
      for (const cron of crons) await cron.stop();
      await Promise.allSettled(running);
    },
  };
}

/**
 * The newest due time of each job that missed it: no replica was up, the process was too busy, or the job's tick before was
 * still running. Older ones are not made up. Nothing was missed before the service first started. All replicas compute the
 * same time, so the tick runs once.
 */
async function findMissedTicks({ config, db, clock }: Context, jobs: Job[]): Promise<{ job: JobName; dueAt: Date }[]> {
  const lastOf = await readLastTicks(db);
  const since = await readFirstStart(db);
  return jobs.flatMap(({ name, cron }) => {
    const { newest } = findDueTimes(cron, config.PROVIDER_TIME_ZONE, clock.now());
    const last = lastOf.get(name);
    // a tick that runs still is waited for; an abandoned one is retried
    if (newest === undefined || last?.finishedAt === null) return [];
    return newest > (last?.dueAt ?? since) ? [{ job: name, dueAt: newest }] : [];
  });
}

/**
 * Finds the due time of a tick that begins now: the nearest one. All replicas must give a tick the same time, though each
 * one's timetable follows its own machine's clock, which may be minutes from the database's.
 */
export function findDueTime(now: Date, cron: string, zone: string): Date {
  const { newest, next } = findDueTimes(cron, zone, now);
  return newest && now.getTime() - newest.getTime() <= next.getTime() - now.getTime() ? newest : next;
}
