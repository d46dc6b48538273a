/**
 * The switches of the sandbox: how it answers where the specification is silent, how transactions develop, what happens to
 * webhooks, and which faults requests get. A scenario is a file of switches. The admin route `/sandbox/switches` shows and
 * changes them at run time. A switch that is not given has its default: a provider without problems.
 */
import { z } from 'zod';
import type { OPERATIONS } from '../domain/statuses.ts';
import { lifecycleSchema } from '../lifecycle/lifecycle-schema.ts';
import { faultSchema } from './fault.ts';

const share = z.number().min(0).max(1);
const milliseconds = z.int().min(0).max(86_400_000);

const listSchema = z.strictObject({
  order: z.enum(['created_desc', 'created_asc', 'updated_desc', 'random']).default('created_desc'),
  dates: z.enum(['inclusive', 'final_exclusive', 'exclusive']).default('inclusive'),
  name_document: z.enum(['partial', 'exact']).default('partial').describe('how the name is compared'),
  past_end: z.enum(['empty', 'last_page', 'not_found', 'invalid']).default('empty').describe('a page after the last'),
  drift: share.default(0).describe('share of list requests before which a transaction is created or changed'),
  total_off_by: z.int().min(-1000).max(1000).default(0),
  total_as: z.enum(['number', 'string']).default('number'),
  next_form: z.enum(['absolute', 'relative']).default('absolute'),
  next_host: z.url().nullable().default(null).describe('another origin in next_page_url'),
  without_api: z.enum(['served', 'not_found']).default('served').describe('/v1/transactions, as next_page_url has it'),
});

const rowsSchema = z.strictObject({
  show_as: z.enum(['array', 'object']).default('array'),
  empty_as: z.enum(['empty', 'null', 'missing']).default('empty').describe('fields without a value'),
  cashout_e2e: z.enum(['creation', 'always']).default('creation').describe('where a cashout shows e2e_id'),
  odd_amounts: share.default(0).describe('share of rows with the amount in odd_form'),
  odd_form: z.enum(['no_decimals', 'one_decimal', 'comma', 'many_decimals', 'number', 'signed']).default('one_decimal'),
});

const commissionSchema = z.strictObject({
  basis_points: z.int().min(0).max(10_000),
  fixed_cents: z.int().min(0).max(1_000_000),
  minimum_cents: z.int().min(0).max(1_000_000),
});

const creationSchema = z.strictObject({
  headers: z.enum(['strict', 'lenient']).default('strict').describe('Accept and Content-Type'),
  documents: z.enum(['checked', 'any']).default('checked'),
  keys: z.enum(['checked', 'any']).default('checked'),
  key_of_document: z.boolean().default(false).describe('a CPF or CNPJ key must be the document'),
  minimum_cents: z.int().min(1).max(1_000_000_000).default(1),
  platforms: z.array(z.string()).max(1000).default([]).describe('known platforms; empty: any'),
  blocked_documents: z.array(z.string()).max(1000).default([]),
  commission: z
    .strictObject({
      cashin: commissionSchema.default({ basis_points: 99, fixed_cents: 0, minimum_cents: 1 }),
      cashout: commissionSchema.default({ basis_points: 0, fixed_cents: 100, minimum_cents: 0 }),
    })
    .prefault({}),
});

const webhooksSchema = z.strictObject({
  announced: z
    .array(z.string())
    .max(32)
    .default(['cashin.paid', 'cashin.refund', 'cashout.paid', 'cashout.denied', 'cashout.canceled', 'cashout.refund'])
    .describe('changes that send one, `operation.status`, or `*`'),
  lose: share.default(0),
  repeat: share.default(0),
  late: share.default(0),
  late_by_ms: milliseconds.default(30_000),
  reorder: share.default(0).describe('share that is sent after the webhooks that follow it'),
  reorder_by_ms: milliseconds.default(5_000),
  forge: share.default(0).describe('share that is accompanied by a forged webhook of a third party'),
  forge_with: z.enum(['token', 'wrong_token', 'no_token']).default('token').describe('what the forger knows'),
  shape: z.enum(['flat', 'transaction_array', 'transaction_object', 'transactions', 'data']).default('flat'),
  retry_after_ms: z.array(milliseconds).max(20).default([1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000]),
  timeout_ms: z.int().min(100).max(120_000).default(10_000),
});

const trafficSchema = z.strictObject({
  per_second: z.number().min(0).max(2_000).default(0),
  cashouts: share.default(0.25),
  platforms: z
    .array(z.string())
    .min(1)
    .max(100)
    .default([
      '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01',
      '5f6c2f0a-7f7e-4b0a-8f0f-9d1c6a2b3c02',
      'c3b1a2d4-1e2f-4a5b-8c6d-7e8f9a0b1c03',
    ]),
});

export const switchesSchema = z.strictObject({
  list: listSchema.prefault({}),
  rows: rowsSchema.prefault({}),
  creation: creationSchema.prefault({}),
  lives: lifecycleSchema.prefault({}),
  webhooks: webhooksSchema.prefault({}),
  traffic: trafficSchema.prefault({}),
  faults: z.array(faultSchema).max(50).default([]),
});

export type Switches = z.infer<typeof switchesSchema>;

/** Returns whether a webhook announces this status of an operation. */
export function isAnnounced(switches: Switches, operation: (typeof OPERATIONS)[number], status: string): boolean {
  const { announced } = switches.webhooks;
  return announced.includes('*') || announced.includes(`${operation}.${status}`);
}
