import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { holdsBack } from './merchant-health.ts';

const HOLD_ROWS = 1000;
const RAMP_START = 16;
const RAMP_MAX = 4096;

/** How many held callbacks of each merchant are resumed at the next tick: doubled each time. */
export type Ramps = Map<number, number>;

/**
 * Aligns callbacks with the state of their merchants. Pending callbacks of a merchant that is paused, disabled, removed or
 * behind an open breaker become held. Held callbacks of a healthy merchant become pending, oldest first, a growing number
 * at each tick. A callback that had used up its schedule restarts it.
 */
export async function pauseAndResume(context: Context, ramps: Ramps): Promise<{ drained: number }> {
  const merchants = await readMerchants(context);
  let drained = 0;
  for (const merchant of merchants) {
    const holds = holdsBack(merchant);
    const drains = !holds && merchant.failing_since === null && merchant.has_held === 1;
    if (holds && merchant.has_pending === 1) await hold(context, merchant.seq);
    if (!drains) {
      ramps.delete(merchant.seq);
      continue;
    }
    const count = ramps.get(merchant.seq) ?? RAMP_START;
    drained += await drain(context, merchant.seq, count);
    ramps.set(merchant.seq, Math.min(RAMP_MAX, count * 2));
  }
  return { drained };
}

async function readMerchants(context: Context) {
  // not EXISTS: MariaDB turns it into a join that reads every pending callback (18 ms instead of 1)
  const has = (state: string) =>
    sql<number | null>`(SELECT 1 FROM callbacks c WHERE c.merchant_seq = merchants.seq AND c.state = ${state} LIMIT 1)`;
  return context.db
    .selectFrom('merchants')
    .select(['seq', 'state', 'deleted_at', 'breaker_opened_at', 'failing_since'])
    .select([has('pending').as('has_pending'), has('held').as('has_held')])
    .execute();
}

async function hold(context: Context, merchantSeq: number): Promise<void> {
  for (;;) {
    const held = await context.db
      .updateTable('callbacks')
      // the index on next_attempt_at then returns them oldest first
      .set((eb) => ({ state: 'held', next_attempt_at: eb.ref('created_at'), lease_holder: null, lease_until: null }))
      .where('merchant_seq', '=', merchantSeq)
      .where('state', '=', 'pending')
      .where('transaction_seq', 'is not', null)
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', context.clock.now())]))
      .limit(HOLD_ROWS)
      .executeTakeFirstOrThrow();
    if (held.numUpdatedRows < HOLD_ROWS) return;
  }
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
      next_attempt_at: context.clock.now(),
    }))
    .where('merchant_seq', '=', merchantSeq)
    .where('state', '=', 'held')
    .orderBy('next_attempt_at')
    .limit(count)
    .executeTakeFirstOrThrow();
  return Number(result.numUpdatedRows);
}
