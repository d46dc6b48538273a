import { z } from 'zod';
import { CALLBACK_STATES } from '../../callbacks/manage/read-callbacks.ts';
import { component, instant, nullableInstant, nullableText } from './row-fields.ts';

/** The fields that operators and the merchant see. */
export const deliveryFields = {
  type: z.string().describe('pix.<operation>.<status>, or pix.expected.<state>'),
  sequence: z.int().nullable(),
  previous_status: nullableText,
  source: z.string(),
  state: z.enum(CALLBACK_STATES),
  attempts: z.int(),
  next_attempt_at: nullableInstant.describe('null also while it is sent'),
  waits_for_earlier: z.boolean().describe('an earlier message of its transaction or order is undelivered'),
  created_at: instant,
  delivered_at: nullableInstant,
};

const callbackFields = {
  id: z.string(),
  webhook_id: z.string().describe('the header of every try'),
  merchant_id: z.string(),
  transaction_id: nullableText,
  expected_payment_id: nullableText,
  ...deliveryFields,
};

export const callback = component('Callback', callbackFields);

export const attempt = component('Attempt', {
  number: z.int(),
  at: instant,
  duration_ms: z.int(),
  request_headers: z.record(z.string(), z.string()),
  response_status: z.int().nullable(),
  response_body: nullableText.describe('null for viewers'),
  error_class: nullableText,
});

export const callbackWithAttempts = component('CallbackWithAttempts', {
  ...callbackFields,
  attempt_list: z.array(attempt),
});
