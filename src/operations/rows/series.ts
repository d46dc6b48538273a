import { z } from 'zod';
import { amount, component, instant } from './row-fields.ts';

const by = z.enum(['day', 'hour']);
const nullableAmount = amount.nullable();

export const moneySeries = component('MoneySeries', {
  by,
  points: z.array(
    z.object({
      at: z.string().describe("a day, or an hour `2026-11-21 08`, of the provider's calendar"),
      receipts: nullableAmount.describe(
        'cashins paid then, refunded or not; null before the first entry and in the future',
      ),
      payments: nullableAmount.describe('cashouts paid then, refunded or not'),
      commissions: nullableAmount.describe('on both, less those returned'),
      refunds_made: nullableAmount.describe('receipts refunded then'),
      refunds_received: nullableAmount.describe('payments that came back then'),
      net: nullableAmount.describe(
        'receipts − payments − commissions − refunds made + refunds received ± adjustments: the total of *Líquido* in the sheet Extrato',
      ),
      balance: nullableAmount.describe('available + held at the end'),
    }),
  ),
});

export const callbackSeries = component('CallbackSeries', {
  by,
  sample_max: z.int().describe('attempts of a point that are sampled at most'),
  points: z.array(
    z.object({
      start: instant,
      attempts: z.int().describe('in the sample'),
      delivered: z.int(),
      p50_ms: z.int().nullable().describe('null without attempts'),
      p95_ms: z.int().nullable(),
    }),
  ),
});
