import { z } from 'zod';
import { MERCHANT_STATES } from '../../../merchants/read-merchants.ts';
import { component, instant, nullableInstant, nullableText } from '../fields.ts';

const merchantFields = {
  id: z.string(),
  name: z.string(),
  url: z.string(),
  email: nullableText,
  state: z.enum(MERCHANT_STATES),
  disabled_reason: nullableText,
  filter: z.object({
    platforms: z.array(z.string()),
    operations: z.array(z.string()),
    statuses: z.array(z.string()),
    reference_prefixes: z.array(z.string()),
    extra_prefixes: z.array(z.string()),
    extra_match: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  }),
  rate: z.int().nullable(),
  events_since: instant,
  created_at: instant,
  failing_since: nullableInstant,
  breaker: z.enum(['closed', 'open']),
};
export const merchant = component('Merchant', merchantFields);
const secret = z.string().describe('whsec_…: shown this once');
export const newMerchant = component('NewMerchant', { ...merchantFields, secret });
export const rotatedMerchant = component('RotatedMerchant', { ...merchantFields, secret, old_secret_until: instant });

export const feedEvent = component('FeedEvent', {
  id: z.string(),
  type: z.string(),
  timestamp: instant,
  data: z.record(z.string(), z.unknown()),
});
