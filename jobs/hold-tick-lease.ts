import type { Kysely } from 'kysely';
import type { Context } from '../src/context.ts';
import type { Database } from '../src/database/tables.ts';
import { describeError } from '../src/log.ts';
import type { Timer } from '../src/timers.ts';

export const LEASE_MS = 45_000;
const RENEW_MS = 10_000;

/** One try of a tick. The number of the try distinguishes two tries of one process. */
export type Try = { job: string; dueAt: Date; tries: number };

/** The lease of a tick was lost. Another replica may run the tick, so this one writes nothing more. */
class LeaseLostError extends Error {
  override name = 'LeaseLost';
}

/** Selects a try's row for an update, unless another process has taken the tick. */
export function updateOwnTick({ holder }: Context, db: Kysely<Database>, { job, dueAt, tries }: Try) {
  return db
    .updateTable('job_ticks')
    .where('job', '=', job)
    .where('due_at', '=', dueAt)
    .where('holder', '=', holder)
    .where('tries', '=', tries)
    .where('finished_at', 'is', null);
}

/**
 * Renews the lease of a try until it is disposed. `signal` aborts once the lease is lost: a renewal found the tick taken,
 * or none succeeded before the lease ended, as in a process that was stopped or cut off from the database. Disposing waits for
 * the renewals that are under way: one that arrived later would extend the lease of a try that has ended.
 */
export function holdTickLease(
  context: Context,
  own: Try & { leaseUntil: Date },
): AsyncDisposable & { signal: AbortSignal } {
  const lost = new AbortController();
  const lose = (): void => lost.abort(new LeaseLostError(`the lease of ${own.job} was lost`));
  const loseAt = (until: Date): Timer => context.timers.after(until.getTime() - context.clock.now().getTime(), lose);
  let end = loseAt(own.leaseUntil);
  let renewals: Promise<unknown> = Promise.resolve();
  let isOver = false;

  async function renew(): Promise<void> {
    const until = leaseFrom(context.clock.now());
    const renewed = await updateOwnTick(context, context.db, own).set({ lease_until: until }).executeTakeFirst();
    if (isOver) return;
    if (renewed.numUpdatedRows !== 1n) lose();
    end.cancel();
    end = loseAt(until);
  }

  const renewal = context.timers.every(RENEW_MS, () => {
    const renewed = renew().catch((error: unknown) =>
      context.log.warn({ error: describeError(error), job: own.job }, 'job lease not renewed; the next try is in 10 s'),
    );
    renewals = Promise.all([renewals, renewed]);
  });
  return {
    signal: lost.signal,
    async [Symbol.asyncDispose]() {
      isOver = true;
      renewal.cancel();
      end.cancel();
      await renewals;
    },
  };
}

export function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}
