import { z } from 'zod';
import { STATUSES } from '../domain/statuses.ts';
import { EXTRA_LENGTH_MAX, REFERENCE_LENGTH_MAX, uuidSchema } from './creation-schema.ts';

const money = z
  .string()
  .regex(/^\d+\.\d{2}$/)
  .describe('decimal with a dot');
const wall = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  .describe('YYYY-mm-dd HH:mm:ss, wall clock of the provider');
const e2eId = z
  .string()
  .regex(/^(E[0-9A-Za-z]{8}\d{12}[0-9A-Za-z]{11})?$/)
  .describe('empty until paid');

const eventSchema = z.strictObject({ date_created: wall, status: z.enum(STATUSES) });

const commonShape = {
  id: uuidSchema,
  status: z.enum(STATUSES),
  amount: money,
  commission: money,
  date_created: wall,
  finished: z.string(),
  name: z.string(),
  email: z.string(),
  phone: z.string(),
  document: z.string(),
  description: z.string(),
  platform: uuidSchema,
  reference: z.string().max(REFERENCE_LENGTH_MAX),
  extra: z.string().max(EXTRA_LENGTH_MAX),
  events: z.array(eventSchema).min(1).describe('newest first'),
};

export const shownCashinSchema = z.strictObject({
  ...commonShape,
  operation: z.literal('cashin'),
  e2e_id: e2eId,
  payment_link: z.url(),
  qr_code: z.string().describe('BR Code'),
  qr_code_image: z.string().startsWith('data:image/png;base64,'),
});

export const shownCashoutSchema = z.strictObject({
  ...commonShape,
  operation: z.literal('cashout'),
  e2e_id: e2eId.optional().describe('in the answer to the creation'),
  pix_key: z.string(),
});

const shownSchema = z.discriminatedUnion('operation', [shownCashinSchema, shownCashoutSchema]);

export const transactionResponseSchema = z.strictObject({ transaction: z.array(shownSchema).length(1) });

export const listResponseSchema = z.strictObject({
  transactions: z.array(shownSchema).max(100),
  current_page: z.int().min(1),
  last_page: z.int().min(1),
  next_page_url: z.union([z.url(), z.literal(false)]),
  total: z.int().min(0),
});

export const errorResponseSchema = z.strictObject({
  error: z.int(),
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string())).optional().describe('errors by field'),
});

export const webhookSchema = z.strictObject({
  id: z.int().describe("the notification's number, not the transaction's"),
  transaction_id: uuidSchema,
  transaction_amount: money,
  transaction_e2e_id: e2eId,
  transaction_operation: z.enum(['in', 'out']),
  transaction_reference: z.string(),
  extra: z.string(),
  date_created: wall,
  status: z.enum(STATUSES),
  path: z.string(),
});
