/**
 * The timetable: each line of `listJobs` names a job, its cron expression (an environment variable) and the function that
 * it calls. Times are the provider's wall clock. A tick runs on one of the replicas that see it (run-tick.ts); another
 * one runs it again if that process dies. A job never runs twice at once.
 */
import { CronJob } from 'cron';
import type { Context } from '../src/context.ts';
import { LOOKBACK_DAYS } from '../src/domain/late-days.ts';
import { describeError } from '../src/log.ts';
import { checkBooks } from '../src/proof/check-books.ts';
import { writeManifest } from '../src/proof/write-manifest.ts';
import { makeDueReports } from '../src/reports/revisions/make-due-reports.ts';
import { dropOldNightly } from './drop-old.ts';
import { findMissedTick } from './find-missed-tick.ts';
import { reconcileDays } from './reconcile-days.ts';
import { reconcileOpenDays } from './reconcile-open-days.ts';
import { reconcileUnclosedDays } from './reconcile-unclosed-days.ts';
import { retryAbandonedTicks, runTick } from './run-tick.ts';
import { watch } from './watch.ts';

/** A tick that is late by less, after a busy moment or a sleeping machine, still runs. */
const LATE_MS_MAX = 29_000;
const RETRY_EVERY_MS = 20_000;

type Job = {
  name: string;
  cron: string;
  work: (context: Context) => Promise<unknown>;
  /** Runs the last tick at the start if no replica was up when it was due, instead of a day later. */
  catchesUp?: true;
};

function listJobs({ config }: Context): Job[] {
  return [
    ...listReconciliations(config),
    { name: 'watch', cron: config.JOB_WATCH, work: watch },
    { name: 'daily_report', cron: config.JOB_DAILY_REPORT, work: makeDueReports, catchesUp: true },
    { name: 'check_books', cron: config.JOB_CHECK_BOOKS, work: checkBooks },
    { name: 'manifest', cron: config.JOB_MANIFEST, work: writeManifest },
    { name: 'retention', cron: config.JOB_RETENTION, work: dropOldNightly },
  ];
}

/** The jobs that read days at the provider: older days less often, and by counts in between. Together they close each day. */
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

/** Starts the jobs. Disposal stops the timetable and waits for running ticks. */
export function startJobScheduler(context: Context): AsyncDisposable {
  const jobs = listJobs(context).filter((job) => job.cron !== 'off');
  const running = new Set<Promise<void>>();
  const guard = (name: string, work: () => Promise<void>): void => {
    const tick = work()
      .catch((error: unknown) =>
        context.log.error({ error: describeError(error), job: name }, 'job tick failed to start'),
      )
      .finally(() => running.delete(tick));
    running.add(tick);
  };
  const crons = jobs.map((job) =>
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
  const retries = context.timers.every(RETRY_EVERY_MS, () => {
    const workOf = (name: string) => {
      const job = jobs.find((one) => one.name === name);
      return job && (() => job.work(context));
    };
    guard('retry', () => retryAbandonedTicks(context, workOf));
  });
  return {
    async [Symbol.asyncDispose]() {
      retries.cancel();
      for (const cron of crons) await cron.stop();
      await Promise.allSettled(running);
    },
  };
}

async function runMissed(context: Context, job: Job): Promise<void> {
  const dueAt = await findMissedTick(context, job);
  if (dueAt) await runTick(context, { job: job.name, dueAt }, () => job.work(context));
}

/**
 * Rounds a tick to the nearest minute, or second for a cron expression with seconds. All replicas must give a tick the same
 * time, though each sees it a little earlier or later by the database's clock. Rounded down, an early replica's tick would
 * get the time of the one before, and run twice.
 */
export function roundToTick(now: Date, cron: string): Date {
  const stepMs = cron.trim().split(/\s+/).length > 5 ? 1000 : 60_000;
  return new Date(Math.round(now.getTime() / stepMs) * stepMs);
}
