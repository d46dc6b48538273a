import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { findMerchant, type MerchantRow } from '../../merchants/read-merchants.ts';
import { type CallbackRow, findCallback } from './read-callbacks.ts';

/**
 * Makes a callback due once more, under its old webhook-id. It is sent at once unless an older one of its transaction is
 * undelivered. A callback in flight is not changed.
 * @throws ConfereError `not_found`; `conflict` if the merchant is not enabled, or fetches its events.
 */
export async function redeliver(context: Context, id: string): Promise<CallbackRow> {
  const callback = await findCallback(context.db, id);
  const merchant = await findMerchant(context.db, callback.merchant_id);
  assertMerchantEnabled(merchant);
  const now = context.clock.now();
  // a callback that is being retried keeps its step, and does not block newer ones for longer
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

/** Without this check a requested delivery would be held silently, or never sent. @throws ConfereError `conflict`. */
export function assertMerchantEnabled(merchant: MerchantRow): void {
  if (merchant.url === null) {
    throw new ConfereError('conflict', 'the merchant fetches its events: it can ask again from an earlier cursor');
  }
  if (merchant.state === 'enabled') return;
  throw new ConfereError('conflict', `the merchant is ${merchant.state}: enable it first`);
}
