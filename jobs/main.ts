/**
 * The whole timetable. Each line is a job, when it ticks (a name of the environment) and what it calls. Times are the
 * provider's; a tick that several replicas see runs on one of them; one whose process died is taken up by another.
 */
import { CronJob } from 'cron';
import type { Context } from '../src/context.ts';
import { LOOKBACK_DAYS } from '../src/domain/late-days.ts';
import { describeError } from '../src/log.ts';
import { checkBooksNightly } from './check-books.ts';
import { dropOldNightly } from './drop-old.ts';
import { findMissedTick } from './find-missed-tick.ts';
import { makeDailyReports } from './make-daily-reports.ts';
import { reconcileDays } from './reconcile-days.ts';
import { reconcileOpenDays } from './reconcile-open-days.ts';
import { reconcileUnclosedDays } from './reconcile-unclosed-days.ts';
import { retryAbandonedTicks, runTick } from './run-tick.ts';
import { watch } from './watch.ts';
import { writeManifestNightly } from './write-manifest.ts';

/** Late ticks, after a busy moment or a sleeping machine, still count. */
const LATE_MS_MAX = 29_000;
const RETAKE_EVERY_MS = 20_000;

type Job = {
  name: string;
  cron: string;
  work: (context: Context) => Promise<void>;
  /** A tick that came due while no replica was up is run at the start: it is not for waiting a day. */
  catchesUp?: true;
};

function listJobs({ config }: Context): Job[] {
  return [
    ...listReconciliations(config),
    { name: 'watch', cron: config.JOB_WATCH, work: watch },
    { name: 'daily_report', cron: config.JOB_DAILY_REPORT, work: makeDailyReports, catchesUp: true },
    { name: 'check_books', cron: config.JOB_CHECK_BOOKS, work: checkBooksNightly },
    { name: 'manifest', cron: config.JOB_MANIFEST, work: writeManifestNightly },
    { name: 'retention', cron: config.JOB_RETENTION, work: dropOldNightly },
  ];
}

/** Which days are read when: the older, the seldomer, and by counts in between. Together they close each day after its end. */
export function listReconciliations(config: Context['config']): Job[] {
  const days = (name: string, cron: string, daysBack: number, how: 'read' | 'count'): Job => ({
    name,
    cron,
    work: (c) => reconcileDays(c, name, daysBack, how),
  });
  return [
    days('reconcile_recent', config.JOB_RECONCILE_RECENT, 1, 'read'),
    days('reconcile_week', config.JOB_RECONCILE_WEEK, 7, 'count'),
    days('reconcile_month', config.JOB_RECONCILE_MONTH, 35, 'read'),
    {
      name: 'reconcile_counts',
      cron: config.JOB_RECONCILE_COUNTS,
      work: async (c) => {
        await reconcileDays(c, 'reconcile_counts', LOOKBACK_DAYS, 'count');
        await reconcileUnclosedDays(c, 'reconcile_unclosed');
      },
    },
    days('reconcile_quarter', config.JOB_RECONCILE_QUARTER, LOOKBACK_DAYS, 'read'),
    {
      name: 'reconcile_open',
      cron: config.JOB_RECONCILE_OPEN,
      work: (c) => reconcileOpenDays(c, 'reconcile_open', LOOKBACK_DAYS),
    },
  ];
}

/** Starts the clock. Dispose to stop it; ticks under way end by themselves. */
export function startJobScheduler(context: Context): AsyncDisposable {
  const jobs = listJobs(context).filter((job) => job.cron !== 'off');
  const running = new Set<Promise<void>>();
  const guard = (name: string, work: () => Promise<void>): void => {
    const tick = work()
      .catch((error: unknown) =>
        context.log.error({ error: describeError(error), job: name }, 'a tick could not be run'),
      )
      .finally(() => running.delete(tick));
    running.add(tick);
  };
  const clocks = jobs.map((job) =>
    CronJob.from({
      cronTime: job.cron,
      timeZone: context.config.PROVIDER_TIME_ZONE,
      threshold: LATE_MS_MAX,
      onTick: () => {
        const dueAt = roundToTick(context.clock.now(), job.cron);
        guard(job.name, () => runTick(context, { job: job.name, dueAt }, () => job.work(context)));
      },
      start: true,
    }),
  );
  for (const job of jobs.filter((one) => one.catchesUp)) guard(job.name, () => runMissed(context, job));
  const retake = context.timers.every(RETAKE_EVERY_MS, () => {
    const workOf = (name: string) => {
      const job = jobs.find((one) => one.name === name);
      return job && (() => job.work(context));
    };
    guard('retake', () => retryAbandonedTicks(context, workOf));
  });
  return {
    async [Symbol.asyncDispose]() {
      retake.cancel();
      for (const clock of clocks) await clock.stop();
      await Promise.allSettled(running);
    },
  };
}

async function runMissed(context: Context, job: Job): Promise<void> {
  const dueAt = await findMissedTick(context, job);
  if (dueAt) await runTick(context, { job: job.name, dueAt }, () => job.work(context));
}

/**
 * All replicas must name a tick alike, though each sees it a little earlier or later by the database's clock: by the
 * nearest second, or the nearest minute. To round down would name the tick of a replica that is early after the one
 * before, and run it twice.
 */
export function roundToTick(now: Date, cron: string): Date {
  const stepMs = cron.trim().split(/\s+/).length > 5 ? 1000 : 60_000;
  return new Date(Math.round(now.getTime() / stepMs) * stepMs);
}
