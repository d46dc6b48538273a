/**
 * A tick is a row in `job_ticks`, one for each job and due time, with a lease of the process that runs it. So a tick runs
 * once over all replicas, and a job never twice at once.
 *
 * claimed → done, or failed: it is not tried again, the next tick runs as planned.
 * claimed → lease lost: the process stops before the next step of the work and writes nothing more about the tick.
 * claimed → process stops: it releases the tick.
 * lost, released or abandoned → claimed by any replica within 20 s, three times in all, then failed.
 */
import type { Kysely, Transaction } from 'kysely';
import type { Context } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { isDuplicateKey, transact } from '../src/database/transact.ts';
import { ConfereError } from '../src/domain/errors.ts';
import { describeError } from '../src/log.ts';
import { jobTicks } from '../src/metrics/metrics.ts';
import { type HeldLease, holdLease } from '../src/runtime/hold-lease.ts';
import { failure, message } from '../src/texts/messages.ts';

export const LEASE_MS = 45_000;
const RENEW_MS = 10_000;
const TRIES_MAX = 3;
/** Larger than most described errors: one that is cut off is no JSON any more. */
const ERROR_CHARS_MAX = 4_000;

export type TickId = { job: string; dueAt: Date };
/** One try of a tick. The number of the try distinguishes two tries of one process. */
type Try = TickId & { tries: number };
/** The work of a job. It checks the context's signal between its steps. */
export type Work = (context: Context) => Promise<unknown>;
/**
 * `skipped`: another tick of the job runs. `taken`: another replica has claimed this tick. `lost`: another replica may run it
 * now. `released`: the process stops, and another one continues it.
 */
export type TickOutcome = 'skipped' | 'taken' | 'done' | 'failed' | 'lost' | 'released';

/** Runs a job's tick, unless another replica has claimed it or the job's last tick is still running. */
export async function runTick(context: Context, { job, dueAt }: TickId, work: Work): Promise<TickOutcome> {
  const claimed = await claim(context, job, async (trx, now) => {
    const own = { job, dueAt, tries: 1, leaseUntil: leaseFrom(now) };
    const lease = { holder: context.holder, lease_until: own.leaseUntil };
    await trx
      .insertInto('job_ticks')
      .values({ job, due_at: dueAt, started_at: now, ...lease })
      .execute();
    return own;
  }).catch((error: unknown) => {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  });
  if (claimed === 'busy') jobTicks.inc({ name: job, outcome: 'skipped' });
  if (claimed === undefined || claimed === 'busy') return claimed === 'busy' ? 'skipped' : 'taken';
  return await workUnderLease(context, claimed, work);
}

/**
 * Runs ticks again whose lease ran out. A tick whose tries are used up has failed: its processes died, or lost it.
 * @param workOf the work of a job; undefined if the job is off.
 */
export async function retryAbandonedTicks(context: Context, workOf: (job: string) => Work | undefined): Promise<void> {
  const abandoned = await context.db
    .selectFrom('job_ticks')
    .select(['job', 'due_at', 'tries'])
    .where('finished_at', 'is', null)
    .where('lease_until', '<', context.clock.now())
    .orderBy('due_at')
    .execute();
  for (const { job, due_at: dueAt, tries } of abandoned) {
    const work = workOf(job);
    if (tries >= TRIES_MAX) await failAbandoned(context, { job, dueAt, tries });
    else if (work) {
      const claimed = await claim(context, job, (trx, now) => takeOver(context, trx, { job, dueAt, tries }, now));
      if (claimed && claimed !== 'busy') await workUnderLease(context, claimed, work);
    }
  }
}

async function takeOver(context: Context, trx: Transaction<Database>, { job, dueAt, tries }: Try, now: Date) {
  const own = { job, dueAt, tries: tries + 1, leaseUntil: leaseFrom(now) };
  const result = await selectAbandoned(trx, { job, dueAt, tries }, now)
    .set({ holder: context.holder, lease_until: own.leaseUntil, tries: own.tries, started_at: now })
    .executeTakeFirst();
  return result.numUpdatedRows === 1n ? own : undefined;
}

async function failAbandoned(context: Context, tick: Try): Promise<void> {
  const error = failure('unavailable', message('job.lost', { n: tick.tries }));
  const failed = await transact(context.db, (trx) => {
    const now = context.clock.now();
    return selectAbandoned(trx, tick, now)
      .set({ finished_at: now, error: storeError(error) })
      .executeTakeFirst();
  });
  if (failed.numUpdatedRows === 1n) reportFailure(context, tick.job, error);
}

function selectAbandoned(trx: Transaction<Database>, { job, dueAt, tries }: Try, now: Date) {
  return trx
    .updateTable('job_ticks')
    .where('job', '=', job)
    .where('due_at', '=', dueAt)
    .where('tries', '=', tries)
    .where('finished_at', 'is', null)
    .where('lease_until', '<', now);
}

/** Claims a tick if no other one of its job runs. It locks the job's open ticks, so two replicas can't both find none. */
async function claim<T>(
  context: Context,
  job: string,
  take: (trx: Transaction<Database>, now: Date) => Promise<T>,
): Promise<T | 'busy'> {
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
    return await take(trx, now);
  });
}

async function workUnderLease(context: Context, own: Try & { leaseUntil: Date }, work: Work): Promise<TickOutcome> {
  await using lease = holdTickLease(context, own);
  const failure = await work({ ...context, signal: AbortSignal.any([context.signal, lease.signal]) }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // work that an abort ended may return without an error, and still is not done
  const isStopped = context.signal.aborted;
  const now = context.clock.now();
  const end = isStopped
    ? { lease_until: now, tries: own.tries - 1 }
    : { finished_at: now, error: failure ? storeError(failure.error) : null };
  if (lease.signal.aborted || !(await writeEnd(context, own, end))) {
    jobTicks.inc({ name: own.job, outcome: 'lost' });
    context.log.warn({ job: own.job }, 'job lease lost; another replica runs the tick again');
    return 'lost';
  }
  if (isStopped) return 'released';
  if (failure) reportFailure(context, own.job, failure.error);
  else jobTicks.inc({ name: own.job, outcome: 'done' });
  return failure ? 'failed' : 'done';
}

function holdTickLease(context: Context, own: Try & { leaseUntil: Date }): HeldLease {
  return holdLease(context, {
    ...{ of: { job: own.job }, leaseMs: LEASE_MS, renewMs: RENEW_MS, until: own.leaseUntil },
    async renew(until) {
      const renewed = await updateOwnTick(context, context.db, own).set({ lease_until: until }).executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
  });
}

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS);

function reportFailure(context: Context, job: string, error: unknown): void {
  jobTicks.inc({ name: job, outcome: 'failed' });
  context.log.error({ error: describeError(error), job }, 'job failed; its next tick runs as planned');
}

/** An error as the log has it, and the names of its messages: the console says them in the reader's language. */
function storeError(error: unknown): string {
  const said = error instanceof ConfereError ? error.said : undefined;
  return JSON.stringify({ ...describeError(error), said }).slice(0, ERROR_CHARS_MAX);
}

/**
 * Writes the end of a try. A claim of another replica locks the gaps around this row: the database may abort either of the
 * two. @returns whether the tick was still its own.
 */
async function writeEnd(
  context: Context,
  own: Try,
  end: { finished_at: Date; error: string | null } | { lease_until: Date; tries: number },
): Promise<boolean> {
  return await transact(context.db, async (trx, mayBeDone) => {
    const { numUpdatedRows } = await updateOwnTick(context, trx, own).set(end).executeTakeFirst();
    return numUpdatedRows === 1n || mayBeDone;
  });
}

/** Selects a try's row for an update, unless another process has taken the tick. */
function updateOwnTick({ holder }: Context, db: Kysely<Database>, { job, dueAt, tries }: Try) {
  return db
    .updateTable('job_ticks')
    .where('job', '=', job)
    .where('due_at', '=', dueAt)
    .where('holder', '=', holder)
    .where('tries', '=', tries)
    .where('finished_at', 'is', null);
}
