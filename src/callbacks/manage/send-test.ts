import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { countRequest } from '../../merchants/count-request.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { generateWebhookId } from '../queue/derive-webhook-id.ts';
import { readNewest } from '../render/render-examples.ts';
import { TEST_TYPE } from '../render/renderable.ts';
import { type CallbackRow, findCallback } from './read-callbacks.ts';

/**
 * Sends a merchant a signed test callback in any state of the merchant, so that its URL can be checked before it is
 * enabled. A test has one attempt. @throws ConfereError `too_many_requests`.
 */
export async function sendTest(context: Context, merchantId: string): Promise<CallbackRow> {
  const [seq] = await sendTests(context, merchantId, [TEST_TYPE]);
  return findCallback(context.db, `cb_${requireRowNumber(seq, 'a callback')}`);
}

/**
 * Sends an example of each type: of the merchant's newest message of it, fixed here, or invented. @returns row numbers, in the order of the types.
 * @throws ConfereError `too_many_requests`.
 */
export async function sendTests(context: Context, merchantId: string, types: readonly string[]): Promise<number[]> {
  const merchant = await findMerchant(context.db, merchantId);
  countRequest(context, 'test', merchantId);
  const now = context.clock.now();
  const repeated = await readNewest(context, merchant.seq, types);
  const rows = types.map((type) => ({
    ...{ webhook_id: generateWebhookId(), merchant_seq: merchant.seq, type, source: TEST_SOURCE, state: 'pending' },
    event_seq: repeated.get(type)?.seq ?? null,
    // a merchant that fetches its events finds it there
    next_attempt_at: merchant.url === null ? null : now,
    created_at: now,
  }));
  await context.db.insertInto('callbacks').values(rows).execute();
  context.wakeUps.callbacks.notify();
  const ids = rows.map((row) => row.webhook_id);
  const stored = await context.db
    .selectFrom('callbacks')
    .select(['seq', 'webhook_id'])
    .where('webhook_id', 'in', ids)
    .execute();
  return ids.flatMap((id) => stored.find((row) => row.webhook_id === id)?.seq ?? []);
}
