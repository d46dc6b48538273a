import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { findMerchant, type MerchantRow } from '../../merchants/read-merchants.ts';
import { type CallbackRow, findCallback } from './read-callbacks.ts';

/**
 * Sends a callback once more, under its old webhook-id: at once where nothing older of its transaction is still to be
 * delivered. One in flight is left alone: that is a delivery already.
 * @throws ConfereError `conflict` for a merchant that takes none now.
 */
export async function redeliver(context: Context, id: string): Promise<CallbackRow> {
  const callback = await findCallback(context.db, id);
  const merchant = await findMerchant(context.db, callback.merchant_id);
  assertMerchantEnabled(merchant);
  const now = context.clock.now();
  // one that is being retried goes on in its schedule, and what waits for it waits no longer for that
  const anew = callback.state === 'pending' ? {} : { state: 'pending', step: 0, first_failed_at: null };
  await context.db
    .updateTable('callbacks')
    .set({ ...anew, next_attempt_at: now })
    .where('seq', '=', callback.seq)
    .where('state', '=', callback.state)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .execute();
  context.wakeUps.callbacks.notify();
  return findCallback(context.db, id);
}

/** Asked-for deliveries to a merchant that takes none would be held in silence: better to say so. */
export function assertMerchantEnabled(merchant: MerchantRow): void {
  if (merchant.state === 'enabled') return;
  throw new ConfereError('conflict', `the merchant is ${merchant.state}: enable it first`);
}
