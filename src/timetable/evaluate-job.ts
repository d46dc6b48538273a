import { MINUTE_MS } from '../domain/calendar.ts';
import { findDueTimes, findNextDue } from './find-due-times.ts';

/** A job that is due again within this time is frequent: one failure of it is no alert. */
const FREQUENT_MS_MAX = 5 * MINUTE_MS;
/** Three ticks of a frequent job fail for a cause that lasts, not for a lost connection. */
const FREQUENT_FAILURES = 3;
/** A tick may start later by this, and by one more tick of a frequent job. */
const START_MS_MAX = 3 * MINUTE_MS;
/** A tick may take the time between two ticks, but at least and at most this. */
const RUN_MS_MIN = 15 * MINUTE_MS;
const RUN_MS_MAX = 240 * MINUTE_MS;
/** A job that pauses between its batches, and resumes, may take up to this. */
const PACED_MS_MAX = 7 * 24 * 60 * MINUTE_MS;

export type Tick = { dueAt: Date; startedAt: Date | null; leaseUntil: Date; finishedAt: Date | null };
type Job = { cron: string; zone: string; isPaced?: boolean };

/**
 * Whether the job's next tick did not start in time, its running tick takes too long, or nobody continues a tick whose
 * process died. Pure.
 * @param last the job's newest tick. @param since the first start of the service, before which nothing was due.
 */
export function isOverdue(job: Job, { last, since }: { last: Tick | undefined; since: Date }, now: Date): boolean {
  if (job.cron === 'off') return false;
  const periodMs = findPeriod(job, now);
  const isLate = (from: Date, ms: number): boolean => now.getTime() - from.getTime() > ms;
  if (last && last.finishedAt === null) {
    const runMs = Math.min(job.isPaced ? PACED_MS_MAX : RUN_MS_MAX, Math.max(RUN_MS_MIN, periodMs));
    return isLate(last.startedAt ?? last.dueAt, runMs) || isLate(last.leaseUntil, START_MS_MAX);
  }
  const dueAt = findNextDue(job.cron, job.zone, last?.dueAt ?? since);
  return isLate(dueAt, START_MS_MAX + Math.min(periodMs, FREQUENT_MS_MAX));
}

/**
 * Whether a job fails: its last tick, or the last three of a frequent job. Pure.
 * @param failed whether each of its last finished ticks failed, the newest first.
 */
export function isFailing(job: Job, failed: boolean[], now: Date): boolean {
  if (job.cron === 'off') return false;
  const count = isFrequent(job, now) ? FREQUENT_FAILURES : 1;
  return failed.length >= count && failed.slice(0, count).every(Boolean);
}

function isFrequent(job: Job, now: Date): boolean {
  return findPeriod(job, now) <= FREQUENT_MS_MAX;
}

/** @returns the ms between the due times around this instant. */
function findPeriod({ cron, zone }: Job, now: Date): number {
  const { newest, next } = findDueTimes(cron, zone, now);
  return newest ? next.getTime() - newest.getTime() : Number.POSITIVE_INFINITY;
}
