import { z } from 'zod';
import { component, instant, nullableInstant, nullableText } from './row-fields.ts';

const webhookFields = {
  id: z.string(),
  received_at: instant,
  state: z.enum(['pending', 'applied', 'quarantined']),
  reason: nullableText,
  items: z.int(),
  repeats: z.int(),
};

export const webhook = component('Webhook', webhookFields);

const webhookItem = component('WebhookItem', {
  transaction_id: nullableText,
  reference: nullableText,
  claimed_status: nullableText,
  state: z.string(),
  reason: nullableText,
  looks: z.int(),
  looked_at: nullableInstant,
  next_look_at: nullableInstant,
  contradicted: z.boolean(),
});

export const webhookWithItems = component('WebhookWithItems', { ...webhookFields, items_detail: z.array(webhookItem) });
