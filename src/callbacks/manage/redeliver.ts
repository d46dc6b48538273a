import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { isAwaitingConfirmation } from '../../database/restores.ts';
import { MINUTE_MS } from '../../domain/calendar.ts';
import { findMerchant, type MerchantRow } from '../../merchants/read-merchants.ts';
import { refuse } from '../../texts/refuse.ts';
import { PROBE_EVERY_MS } from '../health/merchant-health.ts';
import { type CallbackRow, findCallback } from './read-callbacks.ts';

/**
 * Makes a callback due once more, under its old webhook-id, and with it the older ones of its transaction or order that wait
 * for a later attempt: it is sent once these are delivered. A callback in flight is not changed.
 * @throws ConfereError `not_found`; `conflict` if callbacks are held, of the merchant or of all, or it fetches its events.
 */
export async function redeliver(context: Context, id: string): Promise<CallbackRow> {
  const callback = await findCallback(context.db, id);
  const merchant = await findMerchant(context.db, callback.merchant_id);
  assertDelivers(merchant);
  await assertConfirmed(context.db);
  const now = context.clock.now();
  // a callback that is being retried keeps its step, and does not block newer ones for longer
  const anew = callback.state === 'pending' ? {} : { state: 'pending', step: 0, first_failed_at: null };
  const makeDue = (set: Partial<typeof anew>) =>
    context.db
      .updateTable('callbacks')
      .set({ ...set, next_attempt_at: now })
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]));
  await makeDue({})
    .where('merchant_seq', '=', callback.merchant_seq)
    .where('transaction_seq', '=', callback.transaction_seq)
    .where('sequence', '<', callback.sequence)
    .where('state', '=', 'pending')
    .execute();
  await makeDue(anew).where('seq', '=', callback.seq).where('state', '=', callback.state).execute();
  context.wakeUps.callbacks.notify();
  return findCallback(context.db, id);
}

/** Why nothing is sent to a merchant: it fetches its events, it is not enabled, or its circuit breaker is open. */
export type Hold = 'fetches' | 'state' | 'breaker';

/** Returns why a callback that is made due now would be held instead of sent; undefined if it is sent. */
export function findHold({ url, state, breaker_opened_at: opened }: HoldFacts): Hold | undefined {
  if (url === null) return 'fetches';
  if (state !== 'enabled') return 'state';
  return opened === null ? undefined : 'breaker';
}

type HoldFacts = Pick<MerchantRow, 'url' | 'state' | 'breaker_opened_at'>;

/** Without this check a requested delivery would be held silently, or never sent. @throws ConfereError `conflict`. */
export function assertDelivers(merchant: MerchantRow): void {
  const { state, failing_since: since } = merchant;
  switch (findHold(merchant)) {
    case 'fetches':
      throw refuse('merchant_fetches');
    case 'state':
      throw refuse('merchant_not_enabled', { state });
    case 'breaker':
      throw refuse('merchant_breaker_open', {
        since: since?.toISOString() ?? '',
        minutes: PROBE_EVERY_MS / MINUTE_MS,
      });
    default:
  }
}

/** @throws ConfereError `conflict` until a restore is confirmed: until then a requested delivery would be held, too. */
export async function assertConfirmed(db: Reader): Promise<void> {
  if (!(await isAwaitingConfirmation(db))) return;
  throw refuse('restore_unconfirmed');
}
