import { z } from 'zod';
import type { ListDoubt } from '../../reports/serve/read-list-proof.ts';
import { source, transaction } from './ledger.ts';
import { component, day, instant, nullableInstant, nullableText } from './row-fields.ts';

const REASONS = [
  ...(['not_over', 'not_read', 'only_counted', 'reopened', 'before_books', 'time_zone'] as const satisfies ListDoubt[]),
  ...(['not_listed', 'late_entry', 'rows_refused', 'rows_hidden', 'names_left', 'id_malformed'] as const),
] as const;
const conclusion = z.enum(['has', 'none', 'unknown']);

const payment = component('ProvenPayment', {
  ...transaction.shape,
  is_older: z.boolean().describe('paid on the day, and created before: of the list of that day'),
  outcome: z
    .enum(['paid', 'not_paid', 'refunded', 'money_out'])
    .describe('paid: by a customer, and not refunded; money_out: a cashout of any status. Its time: status_at'),
  platform_name: nullableText,
  first_seen_at: instant.describe('when we learnt of it'),
  paid: z.object({ at: instant, seen_at: instant, source }).nullable(),
  refunded_at: nullableInstant.describe('at the provider; null: it is not refunded'),
  webhook: z.object({ id: z.string(), received_at: instant }).nullable().describe('the first; null: none came'),
  mismatches: z
    .array(z.object({ id: z.string(), kind: z.string(), severity: z.string(), opened_at: instant }))
    .describe('unresolved ones: neither `text` nor the print has them'),
});

const reading = z.object({
  read_at: instant.describe('when the reading began'),
  run_id: z.string(),
  from: day,
  to: day.describe('several days are read as one list until its bounds are learnt'),
  announced: z
    .int()
    .nullable()
    .describe('its total, as the provider says; more than listed: a person accepted the surplus'),
  listed: z.int(),
});

export const paymentProof = component('PaymentProof', {
  asked: z.object({ day, hour: z.int().nullable(), amount: nullableText, name: nullableText, e2e_id: nullableText }),
  conclusion: conclusion.describe('has: in the list of the day or of one before; none: all of these were read'),
  list: z.object({
    day,
    conclusion: conclusion.describe('of what was created on the day'),
    reason: z.enum(REASONS).nullable().describe('why nothing is concluded'),
    next_at: nullableInstant.describe('where nothing is concluded: when the timetable next reads the day whole'),
    reading: reading.nullable().describe('the newest that read the list whole, begun after the day'),
    early: reading.nullable().describe('where there is none: the newest that read it whole, and began too early'),
  }),
  older: z
    .object({
      ...{ conclusion, days: z.int(), unread: z.int().describe('days not read whole since') },
      unlisted: z
        .int()
        .describe('of these, never read whole after their own end: only of the others is each charge known'),
      charges: z
        .array(z.object({ id: z.string(), day }))
        .nullable()
        .describe(
          'created on unread days, of the amount, not known as paid and not seen since: only one of these may have been paid on the day; at most 20; null: not known',
        ),
      charges_count: z.int().nullable(),
      counted: z.int().describe('of these, counted since: a count names no transaction'),
      next_at: nullableInstant.describe('when the timetable next reads all of the unread days whole'),
      early_at: nullableInstant.describe('of these, when the newest whole reading began: too early'),
    })
    .describe('of what was created in the days before and paid on the day'),
  payments: z.array(payment).describe('all that we know of, for every conclusion; at most 20'),
  more: z.boolean(),
  without_e2e: z
    .array(z.object({ id: z.string(), amount: z.string(), day: day.describe('of its creation') }))
    .describe(
      'of a question by e2e_id that finds none: cashins paid on its day without one, or with it in other case, any may be it; at most 20',
    ),
  other_hours: z.array(z.int()).nullable().describe('of the day that have one, where the hour has none'),
  other_days: z.array(day).describe('of the day before and the one after, those that have one, where the day has none'),
  other_names: z
    .int()
    .nullable()
    .describe(
      'where none has the name: transactions of the amount on the day, at any hour, under other names; at most 20',
    ),
  log: z
    .object({ position: z.int(), hash: z.string(), checkpoint: nullableText.describe('a signed note') })
    .nullable()
    .describe('the newest sealed position and published checkpoint: docs/log.md'),
  zone: z.string().describe("the provider's, of all days and hours: America/Sao_Paulo"),
  made_at: instant,
  issuer: nullableText.describe('the company: the name in ALERT_EMAIL_FROM; null: the proof names none'),
  headline: z.object({ 'pt-BR': z.string(), en: z.string() }).describe('what was asked, and the verdicts'),
  text: z.object({ 'pt-BR': z.string(), en: z.string() }).describe('the conclusions in words'),
});

export type PaymentProof = Omit<z.infer<typeof paymentProof>, 'text' | 'headline'>;
