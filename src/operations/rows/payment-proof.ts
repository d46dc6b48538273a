import { z } from 'zod';
import { LIST_DOUBTS } from '../../reports/serve/read-list-proof.ts';
import { source, transaction } from './ledger.ts';
import { component, day, instant, nullableInstant, nullableText } from './row-fields.ts';

const conclusion = z.enum(['has', 'none', 'unknown']);

const payment = component('ProvenPayment', {
  ...transaction.shape,
  is_older: z.boolean().describe('paid on the day, and created on one before: it is of the list of that one'),
  first_seen_at: instant.describe('when we learnt of it'),
  paid: z
    .object({ at: instant, seen_at: instant, source })
    .nullable()
    .describe('its last paid event; null: it was not paid'),
  webhook: z
    .object({ id: z.string(), received_at: instant })
    .nullable()
    .describe('the first that named it; null: none came'),
});

export const paymentProof = component('PaymentProof', {
  asked: z.object({
    day,
    hour: z.int().nullable(),
    amount: nullableText,
    name: nullableText,
    e2e_id: nullableText,
  }),
  conclusion: conclusion.describe(
    'has: it is in the list of the day or of one before; none: all of these lists were read and lack it; unknown: nothing is concluded',
  ),
  list: z.object({
    day,
    conclusion: conclusion.describe('of the list of the day alone: what was created on it'),
    reason: z
      .enum([...LIST_DOUBTS, 'late_entry', 'rows_refused', 'rows_hidden'])
      .nullable()
      .describe('why the list allows no conclusion'),
    refused_rows: z.int().describe('rows that may be of the day, could not be read and are not booked'),
    reading: z
      .object({
        read_at: instant.describe('when the reading began that read the list whole, after the day had ended'),
        run_id: z.string(),
        from: day,
        to: day.describe('several days were read as one list until its bounds were learnt'),
        passes: z.int(),
        announced: z.int().nullable().describe('its total, as the provider says'),
        listed: z.int(),
        surplus: z.int().describe('announced beyond those listed, as a person accepted'),
      })
      .nullable(),
    proven_at: nullableInstant.describe('when the newest proof began, by a reading or by counts that add up'),
  }),
  older: z
    .object({ conclusion, days: z.int(), unread: z.int() })
    .describe('what was created in the days before and paid on the day; unread: days not read or counted since'),
  payments: z.array(payment).describe('all that we know of, at most 20, for every conclusion'),
  more: z.boolean(),
  other_hours: z
    .int()
    .nullable()
    .describe('such payments of the day in other hours, up to 21, where the hour has none'),
  log: z
    .object({
      position: z.int(),
      hash: z.string(),
      checkpoint: nullableText.describe('the newest published checkpoint of the log, a signed note'),
    })
    .nullable()
    .describe('the newest sealed position when this was made: docs/log.md'),
  made_at: instant,
  text: z.object({ 'pt-BR': z.string(), en: z.string() }).describe('the conclusion in words'),
});

export type PaymentProof = Omit<z.infer<typeof paymentProof>, 'text'>;
