import type { Kysely, Transaction } from 'kysely';
import type { Context } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { isDuplicateKey, transact } from '../src/database/transact.ts';
import { describeError } from '../src/log.ts';
import { jobTicks } from '../src/metrics/metrics.ts';

const LEASE_MS = 45_000;
const RENEW_MS = 10_000;
const TRIES_MAX = 3;
const ERROR_CHARS_MAX = 500;

export type Tick = { job: string; dueAt: Date };

/**
 * Runs a job's tick, unless another replica has claimed it or the job's last tick is still running. A tick is a row in
 * `job_ticks` with a lease of its process. The lease is renewed while the job runs; after 45 s without a renewal another
 * replica may run the tick again, three times in all.
 */
export async function runTick(context: Context, tick: Tick, work: () => Promise<unknown>): Promise<void> {
  const outcome = await claim(context, tick.job, async (trx, now) => {
    const lease = { holder: context.holder, lease_until: leaseFrom(now) };
    await trx
      .insertInto('job_ticks')
      .values({ job: tick.job, due_at: tick.dueAt, ...lease })
      .execute();
    return true;
  }).catch((error: unknown) => {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  });
  if (outcome === 'busy') jobTicks.inc({ job: tick.job, outcome: 'skipped' });
  if (outcome === 'taken') await workUnderLease(context, tick, work);
}

/** Runs ticks again whose lease ran out. @param workOf the function of a job; undefined if the job is off. */
export async function retryAbandonedTicks(
  context: Context,
  workOf: (job: string) => (() => Promise<unknown>) | undefined,
): Promise<void> {
  const abandoned = await context.db
    .selectFrom('job_ticks')
    .select(['job', 'due_at'])
    .where('finished_at', 'is', null)
    .where('lease_until', '<', context.clock.now())
    .where('tries', '<', TRIES_MAX)
    .orderBy('due_at')
    .execute();
  for (const row of abandoned) {
    const work = workOf(row.job);
    if (!work) continue;
    const outcome = await claim(context, row.job, async (trx, now) => {
      const result = await trx
        .updateTable('job_ticks')
        .set((eb) => ({ holder: context.holder, lease_until: leaseFrom(now), tries: eb('tries', '+', 1) }))
        .where('job', '=', row.job)
        .where('due_at', '=', row.due_at)
        .where('finished_at', 'is', null)
        .where('lease_until', '<', now)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    });
    if (outcome === 'taken') await workUnderLease(context, { job: row.job, dueAt: row.due_at }, work);
  }
}

/** Claims a tick if no other one of its job runs. It locks the job's open ticks, so two replicas can't both find none. */
async function claim(
  context: Context,
  job: string,
  take: (trx: Transaction<Database>, now: Date) => Promise<boolean>,
): Promise<'busy' | 'lost' | 'taken'> {
  return await transact(context.db, async (trx) => {
    const open = await trx
      .selectFrom('job_ticks')
      .select('lease_until')
      .where('job', '=', job)
      .where('finished_at', 'is', null)
      .forUpdate()
      .execute();
    const now = context.clock.now();
    if (open.some((row) => row.lease_until > now)) return 'busy';
    return (await take(trx, now)) ? 'taken' : 'lost';
  });
}

async function workUnderLease(context: Context, tick: Tick, work: () => Promise<unknown>): Promise<void> {
  const own = (db: Kysely<Database>) =>
    db
      .updateTable('job_ticks')
      .where('job', '=', tick.job)
      .where('due_at', '=', tick.dueAt)
      .where('holder', '=', context.holder);
  const renewal = context.timers.every(RENEW_MS, () => {
    own(context.db)
      .set({ lease_until: leaseFrom(context.clock.now()) })
      .execute()
      .catch((error: unknown) =>
        context.log.warn(
          { error: describeError(error), job: tick.job },
          'job lease not renewed; the next try is in 10 s',
        ),
      );
  });
  let failure: unknown;
  try {
    await work();
  } catch (error) {
    failure = error;
    context.log.error({ error: describeError(error), job: tick.job }, 'job failed; its next tick runs as planned');
  } finally {
    renewal.cancel();
  }
  jobTicks.inc({ job: tick.job, outcome: failure === undefined ? 'done' : 'failed' });
  const error = failure === undefined ? null : JSON.stringify(describeError(failure)).slice(0, ERROR_CHARS_MAX);
  // a claim of another replica locks the gaps around this row: the database may abort either of the two
  await transact(context.db, (trx) => own(trx).set({ finished_at: context.clock.now(), error }).execute());
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}
