import { z } from 'zod';

const where = {
  on: z.enum(['list', 'show', 'cashin', 'cashout', 'any']).default('any'),
  share: z.number().min(0).max(1).default(1).describe('share of requests that get the fault'),
  after: z.int().min(0).max(1_000_000).default(0).describe('number of requests before it begins'),
  times: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('number of requests that get it before it ends'),
  burst: z.int().min(1).max(10_000).default(1).describe('number of requests in a row that get it'),
};

/** A fault that is injected into requests. */
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
    .describe('429 after `requests` requests within `per_s` seconds'),
  z.strictObject({ kind: z.literal('slow'), ...where, delay_ms: z.int().min(1).max(300_000).default(3_000) }),
  z.strictObject({ kind: z.literal('cut'), ...where }).describe('the connection closes half-way through the answer'),
  z.strictObject({ kind: z.literal('hang'), ...where }).describe('no answer, although a create is stored'),
  z.strictObject({
    kind: z.literal('malformed'),
    ...where,
    as: z.enum(['truncated', 'html', 'empty', 'wrong_shape']).default('truncated'),
  }),
]);

export type Fault = z.infer<typeof faultSchema>;
