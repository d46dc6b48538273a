import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { countRequest } from '../../merchants/count-request.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { TEST_SOURCE } from '../health/callback-sources.ts';
import { generateWebhookId } from '../queue/derive-webhook-id.ts';
import { TEST_TYPE } from '../render/render-bodies.ts';
import { type CallbackRow, findCallback } from './read-callbacks.ts';

/**
 * Sends a merchant a signed test callback in any state of the merchant, so that its URL can be checked before it is
 * enabled. A test has one attempt. @throws ConfereError `too_many_requests`.
 */
export async function sendTest(context: Context, merchantId: string): Promise<CallbackRow> {
  const merchant = await findMerchant(context.db, merchantId);
  countRequest(context, 'test', merchantId);
  const now = context.clock.now();
  const row = {
    webhook_id: generateWebhookId(),
    merchant_seq: merchant.seq,
    type: TEST_TYPE,
    source: TEST_SOURCE,
    state: 'pending',
    // a merchant that fetches its events finds it there
    next_attempt_at: merchant.url === null ? null : now,
    created_at: now,
  };
  const { insertId } = await context.db.insertInto('callbacks').values(row).executeTakeFirstOrThrow();
  context.wakeUps.callbacks.notify();
  return findCallback(context.db, `cb_${requireRowNumber(insertId, 'a callback')}`);
}
