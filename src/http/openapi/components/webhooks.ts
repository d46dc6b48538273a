import { z } from 'zod';
import { components, instant, nullableInstant, nullableText } from '../fields.ts';

const webhookFields = {
  id: z.string(),
  received_at: instant,
  state: z.enum(['pending', 'applied', 'quarantined']),
  reason: nullableText,
  items: z.int(),
  repeats: z.int(),
};

export const webhook = z.object(webhookFields).register(components, { id: 'Webhook' });

const webhookItem = z
  .object({
    transaction_id: nullableText,
    reference: nullableText,
    claimed_status: nullableText,
    state: z.string(),
    reason: nullableText,
    looks: z.int(),
    looked_at: nullableInstant,
    next_look_at: nullableInstant,
    contradicted: z.boolean(),
  })
  .register(components, { id: 'WebhookItem' });

export const webhookWithItems = z
  .object({ ...webhookFields, items_detail: z.array(webhookItem) })
  .register(components, { id: 'WebhookWithItems' });
