/**
 * PROVIDER_RATE: a token bucket with priorities, in the database, for all replicas. It fills steadily; a request takes
 * one token. The less urgent a request is, the more it must leave in the bucket. So a backfill never empties it, a
 * verification finds a token at once, and under a steady load of verifications nothing else is sent. The bucket holds a
 * tenth of the rate and fills by the rest: no minute sees more than the rate. At high rates one write takes several
 * tokens.
 */
import type { Kysely } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { type Reading, secondsSince } from '../metrics/reading.ts';
import { type Priority, TOKEN_TTL_MS, type TokenBucket, type TokenGrant } from './schedule-requests.ts';

const NAME = 'provider';
const CAPACITY_SHARE = 0.1;
/** Below this the reserves of the priorities would be equal. */
const CAPACITY_MIN = 4;
/** The share that each priority leaves in the bucket, above the first token. */
const RESERVE: Record<Priority, number> = { verification: 0, today: 0.2, unproven: 0.3, settled: 0.4, backfill: 0.6 };
const TAKES_A_SECOND = 4;
const WAIT_MS_MIN = 20;
const WAIT_MS_MAX = 5_000;
/** A bucket filled further ahead than this was filled by a wrong clock, and would stay empty until then. */
const CLOCK_SKEW_MS_MAX = 5_000;

/** Plans the bucket of a rate. Pure. @param perMinute requests that all replicas may send in any minute. */
export function planBucket(perMinute: number) {
  const capacity = Math.max(1, Math.min(Math.max(CAPACITY_MIN, perMinute * CAPACITY_SHARE), perMinute / 2));
  // a token may be used a moment after it was taken
  const perSecond = Math.max(perMinute - capacity, perMinute / 2) / (60 + TOKEN_TTL_MS / 1000);
  const slice = Math.max(1, Math.floor(perSecond / TAKES_A_SECOND));
  const reserve = (priority: Priority): number => RESERVE[priority] * (capacity - 1);
  return { capacity, perSecond, slice, reserve };
}

export function openTokenBucket({ db, clock }: Pick<Context, 'db' | 'clock'>, perMinute: number): TokenBucket {
  const bucket = planBucket(perMinute);
  return {
    take: (priority) => transact(db, (trx) => take(trx, bucket, priority, clock.now()), { retryDuplicates: true }),
  };
}

/** How full the bucket is. */
export async function readBudgetMetrics({ config, db, clock }: Context): Promise<Reading[]> {
  const name = 'confere_provider_budget_ratio';
  const help =
    'Share of the bucket of PROVIDER_RATE that all processes may still send at once; 1 without PROVIDER_RATE.';
  if (config.PROVIDER_RATE === 'off') return [{ name, help, values: 1 }];
  const row = await db
    .selectFrom('provider_budget')
    .select(['tokens', 'filled_at'])
    .where('name', '=', NAME)
    .executeTakeFirst();
  const { capacity, perSecond } = planBucket(config.PROVIDER_RATE);
  const tokens = row ? row.tokens + secondsSince(row.filled_at, clock.now()) * perSecond : capacity;
  return [{ name, help, values: Math.min(1, tokens / capacity) }];
}

async function take(
  db: Kysely<Database>,
  bucket: ReturnType<typeof planBucket>,
  priority: Priority,
  now: Date,
): Promise<TokenGrant> {
  const row = await db
    .selectFrom('provider_budget')
    .select(['tokens', 'filled_at'])
    .where('name', '=', NAME)
    .forUpdate()
    .executeTakeFirst();
  // never moved back: replicas whose clocks differ by some ms would fill the same ms repeatedly
  const aheadMs = row ? row.filled_at.getTime() - now.getTime() : 0;
  const filledAt = row && aheadMs > 0 && aheadMs <= CLOCK_SKEW_MS_MAX ? row.filled_at : now;
  const elapsedMs = row ? Math.max(0, filledAt.getTime() - row.filled_at.getTime()) : 0;
  const filled = row ? row.tokens + (elapsedMs / 1000) * bucket.perSecond : bucket.capacity;
  const tokens = Math.min(bucket.capacity, filled);
  const free = tokens - bucket.reserve(priority);
  if (free < 1) {
    if (aheadMs > CLOCK_SKEW_MS_MAX) await write(db, { tokens, filled_at: now });
    const waitMs = ((1 - free) / bucket.perSecond) * 1000;
    return { waitMs: Math.min(WAIT_MS_MAX, Math.max(WAIT_MS_MIN, waitMs)) };
  }
  const taken = Math.min(bucket.slice, Math.floor(free));
  const left = { tokens: tokens - taken, filled_at: filledAt };
  if (row) await write(db, left);
  else
    await db
      .insertInto('provider_budget')
      .values({ name: NAME, ...left })
      .execute();
  return { tokens: taken };
}

async function write(db: Kysely<Database>, left: { tokens: number; filled_at: Date }): Promise<void> {
  await db.updateTable('provider_budget').set(left).where('name', '=', NAME).execute();
}
