import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { callbackBodySchema, providerBodySchema } from './event-schema.ts';
import { TEST_TYPE } from './renderable.ts';

export type ProviderBody = z.infer<typeof providerBodySchema>;

/** The transaction of a test: it exists nowhere, and nothing of it is paid. */
const TESTED: Omit<Facts, 'status_at'> = {
  ...{ id: '00000000-0000-0000-0000-000000000000', operation: 'cashin' as const, status: 'pending', amount: '0.00' },
  ...{ e2e_id: '', reference: TEST_TYPE, extra: '' },
};

const CORRECTED = /\.corrected$/;
const ID_BITS_MAX = 53n;

/**
 * Converts a rendered body into the provider's. Pure.
 * @returns undefined for a message that the provider has no body for: a correction, or one about no transaction but a test.
 */
export function toProviderBody(body: object, webhookId: string): ProviderBody | undefined {
  const { type, timestamp, data, ...marks } = body as z.infer<typeof callbackBodySchema>;
  if (CORRECTED.test(type)) return undefined;
  if (type === TEST_TYPE) return flatten({ ...TESTED, status_at: timestamp }, webhookId);
  return 'transaction' in data ? { ...flatten(data.transaction, webhookId), ...marks } : undefined;
}

type Facts = {
  id: string;
  operation: 'cashin' | 'cashout';
  status: string;
  amount: string;
  e2e_id: string | null;
  reference: string | null;
  extra: string | null;
  status_at: string;
};

function flatten({ id, operation, status, amount, ...facts }: Facts, webhookId: string): ProviderBody {
  return {
    id: numberOf(webhookId),
    transaction_id: id,
    transaction_amount: amount,
    transaction_e2e_id: facts.e2e_id ?? '',
    transaction_operation: operation === 'cashin' ? 'in' : 'out',
    transaction_reference: facts.reference ?? '',
    extra: facts.extra ?? '',
    // ISO 8601 of the provider's wall clock, with its offset
    date_created: facts.status_at.slice(0, 'YYYY-MM-DDTHH:mm:ss'.length).replace('T', ' '),
    status,
    path: `/api/v1/transaction/${id}`,
  };
}

/**
 * The number of a message, from its webhook-id: a restore or a replay never makes a new one. A row number would show a
 * merchant how many messages others get. With 53 bits, every language reads it exactly, and two of a million messages
 * share one with a probability of 1 in 18,000.
 */
function numberOf(webhookId: string): number {
  const digest = createHash('sha256').update(webhookId).digest();
  return Number(digest.readBigUInt64BE() >> (64n - ID_BITS_MAX));
}
