import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../../context.ts';
import { awaitsConfirmation } from '../../database/restores.ts';
import { CLOSED } from '../../merchants/change-own.ts';
import { mayNeedAlert } from './alert-outages.ts';
import { TEST_SOURCE } from './callback-sources.ts';
import { holdsBack } from './merchant-health.ts';
import { WHEN_IDLE } from './when-idle.ts';

const HOLD_ROWS = 1000;
const RAMP_START = 16;
const RAMP_MAX = 4096;

/** How many held callbacks of each merchant are resumed at the next tick: doubled each time. */
export type Ramps = Map<number, number>;

/**
 * Aligns callbacks with the state of their merchants. Pending callbacks of a merchant that is paused, disabled, removed or
 * behind an open breaker become held, and those of all merchants until a restore is confirmed. Held callbacks of a healthy merchant become pending, oldest first, a growing number
 * at each tick. A callback that had used up its schedule restarts it. Callbacks of a merchant that fetches its events are
 * pending and never due.
 * @returns how many were resumed, and whether a merchant may have an outage or a recovery to report.
 */
export async function pauseAndResume(context: Context, ramps: Ramps): Promise<{ drained: number; hasNews: boolean }> {
  const merchants = await readMerchants(context);
  let drained = 0;
  for (const merchant of merchants) {
    if (merchant.url === null) {
      if (merchant.has_held === 1 || merchant.has_due === 1) await stopSending(context, merchant.seq);
      continue;
    }
    if (merchant.has_undue === 1) await startSending(context, merchant.seq);
    const holds = holdsBack(merchant) || Boolean(merchant.is_restored);
    // no failures: it has recovered, or its breaker was closed
    const drains = !holds && merchant.failures === 0 && merchant.has_held === 1;
    if (holds && merchant.has_due === 1) await hold(context, merchant.seq);
    if (!drains) {
      ramps.delete(merchant.seq);
      continue;
    }
    const count = ramps.get(merchant.seq) ?? RAMP_START;
    drained += await drain(context, merchant.seq, count);
    ramps.set(merchant.seq, Math.min(RAMP_MAX, count * 2));
  }
  return { drained, hasNews: merchants.some(mayNeedAlert) };
}

async function readMerchants(context: Context) {
  // not EXISTS: MariaDB turns it into a join that reads every pending callback (18 ms instead of 1)
  const has = (condition: RawBuilder<unknown>) =>
    sql<number | null>`(SELECT 1 FROM callbacks c WHERE c.merchant_seq = merchants.seq AND ${condition} LIMIT 1)`;
  const due = sql`c.state = 'pending' AND c.next_attempt_at IS NOT NULL`;
  const undue = sql`c.state = 'pending' AND c.next_attempt_at IS NULL`;
  return context.db
    .selectFrom('merchants')
    .select(['seq', 'url', 'state', 'deleted_at', 'breaker_opened_at', 'failures'])
    .select(['failing_since', 'warned_at', 'recovered_at'])
    .select([has(due).as('has_due'), has(undue).as('has_undue'), has(sql`c.state = 'held'`).as('has_held')])
    .select(awaitsConfirmation().as('is_restored'))
    .execute();
}

/** How many are made due at once or are held no more, and how many of their transactions and orders follow. */
export type SentWaiting = { due: number; following: number };

/** Makes due at once what failed and waits for a later attempt, and lets go of what is held. What waits for an earlier message follows it. */
export async function sendWaiting(
  context: Context,
  { seq, url }: { seq: number; url: string | null },
): Promise<SentWaiting> {
  if (url === null) return { due: 0, following: 0 };
  const now = context.clock.now();
  const later = sql<boolean>`merchant_seq = ${seq} AND state = 'pending' AND next_attempt_at > ${now}
    AND next_attempt_at < ${WHEN_IDLE} AND (lease_until IS NULL OR lease_until < ${now})`;
  const failed = sql<boolean>`first_failed_at IS NOT NULL`;
  const held = await letGo(context, seq);
  const { due, following } = await context.db
    .selectFrom('callbacks')
    .select(sql<number>`COUNT(CASE WHEN ${failed} THEN 1 END)`.as('due'))
    .select(
      sql<number>`COUNT(CASE WHEN first_failed_at IS NULL AND transaction_seq IS NOT NULL THEN 1 END)`.as('following'),
    )
    .where(later)
    .executeTakeFirstOrThrow();
  // as many as waited: one that fails again meanwhile keeps its new time
  for (let left = Number(due); left > 0; left -= HOLD_ROWS)
    await context.db
      .updateTable('callbacks')
      .set({ next_attempt_at: now })
      .where(later)
      .where(failed)
      .orderBy('next_attempt_at')
      .limit(HOLD_ROWS)
      .execute();
  context.wakeUps.callbacks.notify();
  return { due: Number(due) + held, following: Number(following) };
}

/** Forgets the failures of an enabled merchant without an open breaker, for which callbacks are held. @returns how many are. */
async function letGo({ db }: Context, seq: number): Promise<number> {
  const { held } = await db
    .selectFrom('callbacks')
    .select(({ fn }) => fn.countAll<number>().as('held'))
    .where('merchant_seq', '=', seq)
    .where('state', '=', 'held')
    .where(sql<boolean>`NOT ${awaitsConfirmation()}`)
    .executeTakeFirstOrThrow();
  // after the count: from now on they are resumed
  const enabled = db.updateTable('merchants').set(CLOSED).where('seq', '=', seq).where('state', '=', 'enabled');
  if (held > 0) await enabled.where('breaker_opened_at', 'is', null).execute();
  return Number(held);
}

async function hold(context: Context, merchantSeq: number): Promise<void> {
  for (;;) {
    const held = await context.db
      .updateTable('callbacks')
      // the index on next_attempt_at then returns them oldest first
      .set({ state: 'held', next_attempt_at: keepIdle(sql.ref('created_at')), lease_holder: null, lease_until: null })
      .where('merchant_seq', '=', merchantSeq)
      .where('state', '=', 'pending')
      .where('source', '<>', TEST_SOURCE)
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', context.clock.now())]))
      .limit(HOLD_ROWS)
      .executeTakeFirstOrThrow();
    if (held.numUpdatedRows < HOLD_ROWS) return;
  }
}

/** For a merchant that lost its URL: its undelivered callbacks wait for its cursor. Tests that wait are among them. */
async function stopSending(context: Context, merchantSeq: number): Promise<void> {
  await context.db
    .updateTable('callbacks')
    .set({ state: 'pending', next_attempt_at: null, first_failed_at: null, lease_holder: null, lease_until: null })
    .where('merchant_seq', '=', merchantSeq)
    .where('state', 'in', ['pending', 'held'])
    .where('next_attempt_at', 'is not', null)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', context.clock.now())]))
    .limit(HOLD_ROWS)
    .execute();
}

/** For a merchant that got a URL: what its cursor has not passed is sent. */
async function startSending(context: Context, merchantSeq: number): Promise<void> {
  await context.db
    .updateTable('callbacks')
    .set((eb) => ({ next_attempt_at: eb.ref('created_at') }))
    .where('merchant_seq', '=', merchantSeq)
    .where('state', '=', 'pending')
    .where('next_attempt_at', 'is', null)
    .limit(HOLD_ROWS)
    .execute();
}

/** A callback of a backfill keeps its low priority while it is held and after it: it is resumed last. */
function keepIdle(dueAt: RawBuilder<unknown>) {
  return sql<Date>`CASE WHEN next_attempt_at = ${WHEN_IDLE} THEN next_attempt_at ELSE ${dueAt} END`;
}

async function drain(context: Context, merchantSeq: number, count: number): Promise<number> {
  const stepsMax = context.config.CALLBACK_RETRY_SCHEDULE.length;
  const result = await context.db
    .updateTable('callbacks')
    .set((eb) => ({
      state: 'pending',
      step: eb.case().when('step', '>=', stepsMax).then(0).else(eb.ref('step')).end(),
      // newer ones of its transaction wait for it again, until it fails again
      first_failed_at: null,
      next_attempt_at: keepIdle(sql.val(context.clock.now())),
    }))
    .where('merchant_seq', '=', merchantSeq)
    .where('state', '=', 'held')
    .orderBy('next_attempt_at')
    .limit(count)
    .executeTakeFirstOrThrow();
  return Number(result.numUpdatedRows);
}
