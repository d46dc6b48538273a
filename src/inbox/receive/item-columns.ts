import { createHash } from 'node:crypto';
import type { WebhookItem } from './parse-items.ts';

/** The hash by which an item without an id or a reference is looked up. */
export function hashExtra({ extra }: WebhookItem): Buffer | null {
  return extra === null ? null : createHash('sha256').update(extra).digest();
}

/** The columns of an item that come from its body. */
export function itemColumns(item: WebhookItem) {
  return {
    transaction_id: item.transactionId,
    reference: item.reference,
    extra_hash: hashExtra(item),
    claimed_status: item.claimedStatus,
    claimed_amount_cents: item.claimedAmountCents,
  };
}
