import { z } from 'zod';
import { OPERATIONS } from '../../domain/statuses.ts';
import { isDay, isWall } from '../../domain/wall-clock.ts';
import { FATES } from '../../store/tables.ts';
import { createFieldError, type FieldErrors } from '../handle-error.ts';

const share = z.number().min(0).max(1);
const moneyText = z.string().regex(/^(0|[1-9]\d{0,12})(\.\d{1,2})?$/, 'must be decimal text, such as "12.34"');
const wall = z.string().refine(isWall, 'must be YYYY-MM-DD HH:mm:ss');
const day = z.string().refine(isDay, 'must be YYYY-MM-DD');
const status = z.string().min(1).max(32);
const shown = z.record(z.string(), z.unknown());

const fateSchema = z.strictObject({
  fate: z.enum(['sent', 'lost', 'repeated', 'late', 'reordered']).default('sent'),
  delay_ms: z.int().min(0).max(86_400_000).default(0),
  forged: z.boolean().default(false),
});

/** true: with a random fate by the switches; false: none; an object: this fate. */
const webhookSchema = z.union([z.boolean(), fateSchema]).default(false);
export type WebhookOption = z.infer<typeof webhookSchema>;

/** Fields of a transaction that an admin may set. A missing one is generated at creation, and unchanged later. */
const factsShape = {
  name: z.string().max(255),
  email: z.string().max(255),
  phone: z.string().max(255),
  document: z.string().max(64),
  description: z.string().max(60_000),
  platform: z.string().max(64),
  reference: z.string().max(50).nullable(),
  extra: z.string().max(255).nullable(),
  e2e_id: z.string().max(64),
  pix_key: z.string().max(320).nullable(),
  amount: moneyText,
  commission: moneyText,
};

const factsSchema = z.object(factsShape).partial();

const adminTransactionSchema = z.strictObject({
  ...factsSchema.shape,
  id: z.string().min(1).max(36).optional(),
  operation: z.enum(OPERATIONS).default('cashin'),
  date_created: wall.optional(),
  events: z
    .array(z.object({ status, date_created: wall }))
    .min(1)
    .max(500)
    .optional()
    .describe('newest first'),
  status: status.optional().describe('without events: pending first, then this a minute later'),
  lively: z.boolean().default(false).describe('gets planned steps by the switches'),
  shown: shown.optional(),
  listed: z.boolean().default(true),
  visible: z.boolean().default(true),
  webhook: webhookSchema,
});
export type AdminTransaction = z.infer<typeof adminTransactionSchema>;

export const adminCreationSchema = z.union([
  z.strictObject({ transactions: z.array(adminTransactionSchema).min(1).max(20_000) }),
  adminTransactionSchema.transform((one) => ({ transactions: [one] })),
]);

export const adminEventSchema = z.strictObject({ status, at: wall.optional(), webhook: webhookSchema });

export const adminChangeSchema = z.strictObject({
  ...factsSchema.shape,
  shown: shown.nullable().optional(),
  listed: z.boolean().optional(),
  visible: z.boolean().optional(),
});

export const deletionSchema = z.object({ from: z.enum(['everywhere', 'list', 'show']).default('everywhere') });
export const booksSchema = z.object({ from: day, to: day });
export const flushSchema = z.strictObject({ timeout_ms: z.int().min(0).max(600_000).default(30_000) });
export const targetSchema = z.strictObject({ url: z.url().nullable(), token: z.string().nullable().optional() });

export const webhooksQuerySchema = z.object({
  transaction_id: z.string().optional(),
  fate: z.enum(FATES).optional(),
  state: z.enum(['due', 'delivered', 'failed', 'lost']).optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  after: z.coerce.number().int().min(0).default(0),
});

export const storySchema = z.strictObject({
  count: z.int().min(1).max(100_000).default(1_200),
  days: z.int().min(1).max(366).default(3).describe('today and the days before it'),
  seed: z.string().max(255).optional(),
  settled: z.boolean().default(true).describe('all events are in the past; else later steps stay planned'),
  cashouts: share.default(0.25),
  announce: share.default(0.5).describe('share of announced changes whose webhook is sent at all'),
  repeat: share.default(0.1).describe('of those sent'),
  late: share.default(0.05).describe('of those sent'),
  late_by_ms: z.int().min(0).max(86_400_000).default(3_000),
  reorder: share.default(0.05).describe('of those sent'),
  forge: share.default(0.01).describe('of all transactions: a webhook claims a false status'),
});
export type Story = z.infer<typeof storySchema>;

/** Parses a body or query with a schema. Throws ApiError 422 with the errors by field. */
export function parseInput<T>(schema: z.ZodType<T>, given: unknown): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const errors: FieldErrors = {};
  for (const { path, message } of result.error.issues) {
    const field = path.join('.') || 'body';
    errors[field] = [...(errors[field] ?? []), message];
  }
  throw createFieldError(errors);
}
