import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import type { Message } from '../../domain/errors.ts';
import { type HeldLease, holdLease } from '../../runtime/hold-lease.ts';
import { storeError } from '../../texts/messages.ts';
import type { RunHow, RunRef } from '../windows/run-ref.ts';

export const LEASE_MS = 30_000;
const RENEW_MS = 7_000;

/** Which runs to claim; without a filter, any. `includeOpen`: also longer runs that read open days only. */
export type RunFilter = { id?: string; daysMax?: number; includeOpen?: boolean };

/** Claims the oldest of these runs that is queued, or whose lease expired, and that may start now. */
export async function claimRun(
  context: Context,
  { id, daysMax, includeOpen = false }: RunFilter,
): Promise<RunRef | undefined> {
  const now = context.clock.now();
  const holder = `${context.holder}.${randomBytes(4).toString('hex')}`;
  return await transact(context.db, async (trx) => {
    let query = selectClaimable(trx, now)
      .select(['seq', 'id', 'platform', 'trigger', 'started_at', 'from_day', 'to_day', 'how', 'requests'])
      .select('traceparent')
      .orderBy('seq')
      .limit(1)
      .forUpdate()
      .skipLocked();
    if (id !== undefined) query = query.where('id', '=', id);
    if (daysMax !== undefined) {
      query = query.where((eb) => {
        const isWithinLimit = eb(sql<number>`DATEDIFF(to_day, from_day)`, '<', daysMax);
        return includeOpen ? eb.or([isWithinLimit, eb('how', '=', 'open')]) : isWithinLimit;
      });
    }
    const row = await query.executeTakeFirst();
    if (!row) return undefined;
    await trx
      .updateTable('runs')
      .set({
        state: 'running',
        started_at: row.started_at ?? now,
        lease_holder: holder,
        lease_until: leaseFrom(now),
        not_before: null,
        error: null,
      })
      .where('seq', '=', row.seq)
      .execute();
    const { seq, platform, trigger, from_day: from, to_day: to, requests: requestsBefore, traceparent } = row;
    const ref = { seq, id: row.id, platform, trigger, from, to, holder, requestsBefore, traceparent };
    // the column holds only values of RunHow: startRun writes it
    return { ...ref, how: row.how as RunHow };
  });
}

/** Renews the lease of a claimed run until it is disposed. */
export function holdRunLease(context: Context, run: Pick<RunRef, 'seq' | 'id' | 'holder'>): HeldLease {
  return holdLease(context, {
    ...{ of: { run: run.id }, leaseMs: LEASE_MS, renewMs: RENEW_MS, until: leaseFrom(context.clock.now()) },
    async renew(until) {
      const renewed = await context.db
        .updateTable('runs')
        .set({ lease_until: until })
        .where('seq', '=', run.seq)
        .where('lease_holder', '=', run.holder)
        .executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
  });
}

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS);

/** Runs that are queued, or whose lease expired, and that may start now. */
export function selectClaimable(db: Reader, now: Date) {
  return db
    .selectFrom('runs')
    .where('state', 'in', ['queued', 'running'])
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .where((eb) => eb.or([eb('not_before', 'is', null), eb('not_before', '<=', now)]));
}

/** Releases a run; the next claim resumes it. @param wait delays the next claim by `ms`; `why` is stored as its error. */
export async function releaseRun(context: Context, run: RunRef, wait?: { ms: number; why: Message }): Promise<void> {
  const later = wait && { not_before: new Date(context.clock.now().getTime() + wait.ms), ...storeError([wait.why]) };
  await context.db
    .updateTable('runs')
    .set({ lease_holder: null, lease_until: null, ...later })
    .where('seq', '=', run.seq)
    .where('lease_holder', '=', run.holder)
    .execute();
}
