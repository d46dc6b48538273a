import { CronTime } from 'cron';
import type { Context } from '../src/context.ts';

/**
 * The first tick of a job that came due since its last one while nobody was there to see it; undefined where none did, or the
 * job has never ticked. All replicas name it alike, so it is run once.
 */
export async function findMissedTick(
  { config, db, clock }: Context,
  job: { name: string; cron: string },
): Promise<Date | undefined> {
  const last = await db
    .selectFrom('job_ticks')
    .select('due_at')
    .where('job', '=', job.name)
    .orderBy('due_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last) return undefined;
  const next = new CronTime(job.cron, config.PROVIDER_TIME_ZONE).getNextDateFrom(last.due_at).toJSDate();
  return next <= clock.now() ? next : undefined;
}
