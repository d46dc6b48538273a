import type { Context } from '../src/context.ts';
import { findDueTimes } from '../src/timetable/find-due-times.ts';
import type { Job } from '../src/timetable/list-jobs.ts';
import { findLastTick, readFirstStart } from '../src/timetable/read-job-states.ts';

/**
 * The newest due time of a job if it was missed: no replica was up, the process was too busy, or the job's tick before was
 * still running. Older ones are not made up. Nothing was missed before the service first started. All replicas compute the
 * same time, so the tick runs once.
 */
export async function findMissedTick({ config, db, clock }: Context, job: Job): Promise<Date | undefined> {
  const { newest } = findDueTimes(job.cron, config.PROVIDER_TIME_ZONE, clock.now());
  const last = await findLastTick(db, job.name);
  // a tick that runs still is waited for; an abandoned one is retried
  if (newest === undefined || last?.finishedAt === null) return undefined;
  return newest > (last?.dueAt ?? (await readFirstStart(db))) ? newest : undefined;
}
