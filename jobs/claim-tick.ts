import type { Context } from '../src/context.ts';
import { isDuplicate } from '../src/database/transact.ts';
import { describeError } from '../src/log.ts';
import { jobTicks } from '../src/metrics/metrics.ts';

const LEASE_MS = 45_000;
const RENEW_MS = 10_000;
const TRIES_MAX = 3;
const ERROR_CHARS_MAX = 500;

export type Tick = { job: string; dueAt: Date };

/**
 * Runs a job's tick, if no other replica has taken it and its last one is not still running. What is due lives in the
 * database: a tick is one row, and a lease says who is at it.
 */
export async function runTick(context: Context, tick: Tick, work: () => Promise<void>): Promise<void> {
  if (await isBusy(context, tick.job)) {
    jobTicks.inc({ job: tick.job, outcome: 'skipped' });
    return;
  }
  if (await insertTick(context, tick)) await workUnderLease(context, tick, work);
}

/** Takes up ticks whose process died. @param workOf what a job does; undefined for one that is off. */
export async function retakeTicks(
  context: Context,
  workOf: (job: string) => (() => Promise<void>) | undefined,
): Promise<void> {
  const now = context.clock.now();
  const abandoned = await context.db
    .selectFrom('job_ticks')
    .select(['job', 'due_at', 'holder'])
    .where('finished_at', 'is', null)
    .where('lease_until', '<', now)
    .where('tries', '<', TRIES_MAX)
    .execute();
  for (const row of abandoned) {
    const work = workOf(row.job);
    if (!work) continue;
    const taken = await context.db
      .updateTable('job_ticks')
      .set((eb) => ({ holder: context.holder, lease_until: leaseFrom(now), tries: eb('tries', '+', 1) }))
      .where('job', '=', row.job)
      .where('due_at', '=', row.due_at)
      .where('holder', '=', row.holder)
      .where('lease_until', '<', now)
      .executeTakeFirst();
    if (taken.numUpdatedRows === 1n) await workUnderLease(context, { job: row.job, dueAt: row.due_at }, work);
  }
}

async function isBusy(context: Context, job: string): Promise<boolean> {
  const row = await context.db
    .selectFrom('job_ticks')
    .select('job')
    .where('job', '=', job)
    .where('finished_at', 'is', null)
    .where('lease_until', '>', context.clock.now())
    .executeTakeFirst();
  return row !== undefined;
}

async function insertTick(context: Context, tick: Tick): Promise<boolean> {
  try {
    await context.db
      .insertInto('job_ticks')
      .values({
        job: tick.job,
        due_at: tick.dueAt,
        holder: context.holder,
        lease_until: leaseFrom(context.clock.now()),
      })
      .execute();
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

async function workUnderLease(context: Context, tick: Tick, work: () => Promise<void>): Promise<void> {
  const own = () =>
    context.db
      .updateTable('job_ticks')
      .where('job', '=', tick.job)
      .where('due_at', '=', tick.dueAt)
      .where('holder', '=', context.holder);
  const renewal = setInterval(() => {
    own()
      .set({ lease_until: leaseFrom(context.clock.now()) })
      .execute()
      .catch((error: unknown) => context.log.warn({ error: describeError(error), job: tick.job }, 'lease not renewed'));
  }, RENEW_MS);
  let failure: unknown;
  try {
    await work();
  } catch (error) {
    failure = error;
    context.log.error({ error: describeError(error), job: tick.job }, 'a job failed; its next tick comes as planned');
  } finally {
    clearInterval(renewal);
  }
  jobTicks.inc({ job: tick.job, outcome: failure === undefined ? 'done' : 'failed' });
  const error = failure === undefined ? null : JSON.stringify(describeError(failure)).slice(0, ERROR_CHARS_MAX);
  await own().set({ finished_at: context.clock.now(), error }).execute();
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}
