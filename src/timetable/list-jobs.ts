/**
 * The timetable's names and cron expressions. Start reading timetable/ here.
 *
 * In: the configuration, and the ticks that `jobs/run-tick.ts` writes. Out: the state of each job (read-job-states.ts), the
 * same from every replica, and its alerts (alert-jobs.ts). `jobs/main.ts` gives each name its work.
 */
import type { Config } from '../config.ts';

export const JOB_NAMES = [
  'reconcile_recent',
  'reconcile_week',
  'reconcile_month',
  'reconcile_counts',
  'reconcile_quarter',
  'reconcile_open',
  'watch',
  'daily_report',
  'day_manifests',
  'check_books',
  'check_all_books',
  'manifest',
  'retention',
] as const;
export type JobName = (typeof JOB_NAMES)[number];

/** They pause between their batches, so as to leave the database to others: one tick may take days. */
export const PACED_JOBS: ReadonlySet<JobName> = new Set(['check_all_books']);

/** `cron` is a cron expression in the provider's time zone, or `off`. */
export type Job = { name: JobName; cron: string };

/** Whether a job runs by the timetable. */
export function isJobOn(config: Config, name: JobName): boolean {
  return listJobs(config).some((job) => job.name === name && job.cron !== 'off');
}

/** Lists all jobs; all are off with JOBS=off. */
export function listJobs(config: Config): Job[] {
  return JOB_NAMES.map((name) => {
    const cron = config[`JOB_${name.toUpperCase() as Uppercase<JobName>}`];
    return { name, cron: config.JOBS === 'off' ? 'off' : cron };
  });
}
