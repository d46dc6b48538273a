import { CronTime } from 'cron';
import type { Context } from '../src/context.ts';

/** Almost three years of daily ticks. */
const STEPS_MAX = 1_000;

/**
 * The newest tick of a job that was due since its last one, while no replica was up; undefined if there is none, or the job
 * never ran. All replicas compute the same time, so the tick runs once.
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
  const zone = config.PROVIDER_TIME_ZONE;
  const cron = new CronTime(job.cron, zone);
  const now = clock.now();
  let missed: Date | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    const next = cron.getNextDateFrom(missed ?? last.due_at, zone).toJSDate();
    if (next > now) break;
    missed = next;
  }
  return missed;
}
