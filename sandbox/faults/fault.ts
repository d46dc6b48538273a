import { z } from 'zod';

const where = {
  on: z.enum(['list', 'show', 'cashin', 'cashout', 'any']).default('any'),
  share: z.number().min(0).max(1).default(1).describe('share of requests that meet it'),
  after: z.int().min(0).max(1_000_000).default(0).describe('so many requests go by before it begins'),
  times: z.int().min(1).max(1_000_000).nullable().default(null).describe('then it is over'),
  burst: z.int().min(1).max(10_000).default(1).describe('once it strikes, so many requests in a row meet it'),
};

/** One thing that goes wrong with requests. */
export const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    ...where,
    status: z.int().min(400).max(599).default(500),
    retry_after_s: z.int().min(0).max(3_600).nullable().default(null),
  }),
  z
    .strictObject({
      kind: z.literal('rate_limit'),
      ...where,
      requests: z.int().min(1).max(1_000_000).default(60),
      per_s: z.int().min(1).max(3_600).default(60),
      retry_after_s: z.int().min(0).max(3_600).default(5),
    })
    .describe('429 once so many requests came within so many seconds'),
  z.strictObject({ kind: z.literal('slow'), ...where, delay_ms: z.int().min(1).max(300_000).default(3_000) }),
  z.strictObject({ kind: z.literal('cut'), ...where }).describe('the connection closes half-way through the answer'),
  z.strictObject({ kind: z.literal('hang'), ...where }).describe('no answer; a create was stored all the same'),
  z.strictObject({
    kind: z.literal('malformed'),
    ...where,
    as: z.enum(['truncated', 'html', 'empty', 'wrong_shape']).default('truncated'),
  }),
]);

export type Fault = z.infer<typeof faultSchema>;
