import { createHmac, type KeyObject, randomBytes } from 'node:crypto';

const ID_BYTES = 16;

/**
 * Derives the `webhook-id` of an event for a merchant from the facts of the event, so that a restored database or a
 * replay gives the same id. The derivation is keyed, so that nobody can predict an id.
 */
export function deriveWebhookId(
  key: KeyObject,
  event: { merchantId: string; transactionId: string; status: string; atWall: string; occurrence: number },
): string {
  const facts = [event.merchantId, event.transactionId, event.status, event.atWall, event.occurrence];
  return formatId(key, facts);
}

function formatId(key: KeyObject, facts: unknown[]): string {
  const digest = createHmac('sha256', key).update(JSON.stringify(facts)).digest();
  return `msg_${digest.subarray(0, ID_BYTES).toString('hex')}`;
}

/** Derives the `webhook-id` of a revision of a day manifest: after a restore, one with other facts has another id. */
export function deriveManifestId(
  key: KeyObject,
  manifest: { merchantId: string; day: string; revision: number; factsHash: Buffer },
): string {
  const facts = ['manifest', manifest.merchantId, manifest.day, manifest.revision, manifest.factsHash.toString('hex')];
  return formatId(key, facts);
}

/** The `webhook-id` of a test callback, which has no event: random. */
export function generateWebhookId(): string {
  return `msg_${randomBytes(ID_BYTES).toString('hex')}`;
}
