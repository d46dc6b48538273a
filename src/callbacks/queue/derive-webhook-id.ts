import { createHmac, type KeyObject, randomBytes } from 'node:crypto';

const ID_BYTES = 16;

/**
 * The `webhook-id` of an event for a merchant: derived from what the event is, so that a restored database or a replay
 * never makes a new one, and with a key, so that nobody can foresee it.
 */
export function deriveWebhookId(
  key: KeyObject,
  event: { merchantId: string; transactionId: string; status: string; atWall: string; occurrence: number },
): string {
  const facts = [event.merchantId, event.transactionId, event.status, event.atWall, event.occurrence];
  const digest = createHmac('sha256', key).update(JSON.stringify(facts)).digest();
  return `msg_${digest.subarray(0, ID_BYTES).toString('hex')}`;
}

/** The `webhook-id` of a test: no event stands behind it. */
export function generateWebhookId(): string {
  return `msg_${randomBytes(ID_BYTES).toString('hex')}`;
}
