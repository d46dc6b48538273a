/** Checks what a source says of an expected payment, for every door: API, imports, commands. */
import { z } from 'zod';
import { type Day, isDay, isKeptInstant } from '../domain/calendar.ts';
import { centsOf } from '../domain/cents-of.ts';
import { TEXT_BYTES_MAX } from '../domain/field-limits.ts';
import { AMOUNT_CENTS_MAX, formatAmount, parseAmount } from '../domain/money.ts';
import { isValidDocument } from '../domain/person/find-documents.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import { OPERATIONS } from '../domain/statuses.ts';
import { rule } from '../texts/messages.ts';
import { NFE_SOURCE } from './decide/facts.ts';
import { isInvoiceKey } from './invoice-key.ts';

export const NUMBER_CHARS_MAX = 120;
export const KEYS_MAX = 20;
const NAME_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 500;
const SOURCE = /^[a-z0-9][a-z0-9._-]{0,39}$/;
const CONTROL = /\p{Cc}/u;
const NO_DAY = rule('field.day');
const NO_INSTANT = 'must be an instant: 2026-11-21T00:00:00-03:00';

const day = z.string(NO_DAY).refine(isDay, NO_DAY);
const optionalDay = day.nullable().default(null);

export const expectedSource = z
  .string('must be a source')
  .regex(SOURCE, rule('field.source'))
  .refine((text) => text !== NFE_SOURCE, rule('field.source_nfe'));
export const expectedNumber = z
  .string('must be a text')
  .refine(
    (text) => text !== '' && text.isWellFormed() && [...text].length <= NUMBER_CHARS_MAX && !CONTROL.test(text),
    rule('field.number', { n: NUMBER_CHARS_MAX }),
  );

export const expectedKeySchema = z.object({ source: expectedSource, number: expectedNumber });

function text(charsMax: number) {
  const fault = rule('field.chars', { n: charsMax });
  return z
    .string(fault)
    .refine((value) => value.isWellFormed() && [...value].length <= charsMax, fault)
    .transform((value) => value || null)
    .nullable()
    .default(null);
}

/** A text that is compared with a transaction's, which holds this many bytes. */
function comparedText(bytesMax: number) {
  const fault = rule('field.bytes', { n: bytesMax });
  return z
    .string(fault)
    .refine((value) => value.trim() !== '' && value.isWellFormed() && Buffer.byteLength(value) <= bytesMax, fault);
}

function keys(bytesMax: number) {
  return z
    .array(comparedText(bytesMax), 'must be a list of texts')
    .max(KEYS_MAX, rule('field.at_most', { n: KEYS_MAX }))
    .refine((list) => new Set(list).size === list.length, rule('field.repeated'))
    .nullable()
    .default(null)
    .transform((list) => list ?? []);
}

const document = z
  .string('must be a CPF or CNPJ')
  .transform((value, context) => {
    const plain = normalizeDocument(value) ?? '';
    if (isValidDocument(plain)) return plain;
    context.addIssue({ code: 'custom', message: rule('field.document') });
    return z.NEVER;
  })
  .nullable()
  .default(null);

/** All facts of an expected payment but its key. Amounts are cents inside. */
export const expectedFactsSchema = z
  .strictObject({
    operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`),
    amount: z
      .string('must be a decimal text: "1234.56"')
      .transform(centsOf(parseAmount, rule('field.amount', { max: formatAmount(AMOUNT_CENTS_MAX) })))
      .refine((cents) => cents > 0n, rule('field.positive'))
      .describe('reais with a point and at most two decimals, more than zero: "1234.56"'),
    due_day: day.describe('the day on which it is due: YYYY-MM-DD'),
    issued_day: optionalDay.describe(
      'YYYY-MM-DD, not after due_day; a payment is found by extra or document from this day on',
    ),
    valid_until: optionalDay.describe(
      'YYYY-MM-DD, not before due_day: once this day has ended it can be unpaid; null: due_day. A later payment is still its own',
    ),
    platform: comparedText(TEXT_BYTES_MAX.platform)
      .nullable()
      .default(null)
      .describe(
        'the id of the platform that its payment must have; null: any, and a filter by platforms sends no message of it',
      ),
    references: keys(TEXT_BYTES_MAX.reference).describe(
      `up to ${KEYS_MAX}: a payment with one of them, to the letter, is its own. No payment is found for what has neither this, e2e_ids, extra, document nor invoice_key`,
    ),
    e2e_ids: keys(TEXT_BYTES_MAX.e2e_id).describe('the same, of the end-to-end ids of PIX'),
    extra: comparedText(TEXT_BYTES_MAX.extra)
      .nullable()
      .default(null)
      .describe('the extra of its payment, to the letter: the last means of finding it but document and amount'),
    document,
    name: text(NAME_CHARS_MAX),
    description: text(DESCRIPTION_CHARS_MAX),
    invoice_key: z
      .string('must be the key of an invoice')
      .refine(isInvoiceKey, rule('field.invoice_key'))
      .nullable()
      .default(null),
    revised_at: z.iso
      .datetime({ offset: true, error: NO_INSTANT, abort: true })
      .refine((value) => isKeptInstant(new Date(value)), NO_INSTANT)
      .nullable()
      .default(null),
  })
  .superRefine(({ issued_day, due_day, valid_until }, context) => {
    const add = (name: string, message: string): void => context.addIssue({ code: 'custom', path: [name], message });
    if (isAfter(issued_day, due_day)) add('issued_day', rule('field.after_due'));
    if (isAfter(due_day, valid_until)) add('valid_until', rule('field.before_due'));
  });

function isAfter(one: Day | null, other: Day | null): boolean {
  return one !== null && other !== null && one > other;
}

/** The facts as given. */
export type GivenFacts = z.infer<typeof expectedFactsSchema>;
