/** Fields that several requests have. Their messages name the rule, never the value. */
import { z } from 'zod';
import { NOTE_CHARS_MAX } from '../access/check-note.ts';
import { isDay, isKeptInstant, isMonth } from '../domain/calendar.ts';
import { centsOf } from '../domain/cents-of.ts';
import { LANGUAGES } from '../domain/language/language.ts';
import { parseAmount, parseSignedAmount } from '../domain/money.ts';
import { isPlatform, PLATFORM_CHARS_MAX } from '../domain/platform.ts';
import { OPERATIONS } from '../domain/statuses.ts';
import { BANK_ACCOUNT_CHARS_MAX } from '../ledger/stated/bank-accounts.ts';
import { FILTER_LIMITS, findFilterFaults } from '../merchants/check-filter.ts';
import type { FilterInput } from '../merchants/match-filter.ts';
import { describe } from '../texts/refuse.ts';

const NO_DAY = describe('day_wrong', {});
const NO_MONTH = describe('month_wrong', {});
/** A day whose calendar the change itself checks. */
export const dayText = z.string(NO_DAY);
export const day = dayText.refine(isDay, NO_DAY);
export const month = z.string(NO_MONTH).refine(isMonth, NO_MONTH);
export const locale = z.enum(LANGUAGES, `must be ${LANGUAGES.join(' or ')}`);

const NO_INSTANT = 'must be an instant: 2026-11-21T00:00:00-03:00';
export const instant = z.iso
  .datetime({ offset: true, error: NO_INSTANT, abort: true })
  .refine((text) => isKeptInstant(new Date(text)), NO_INSTANT);
export const parsedInstant = instant.transform((text) => new Date(text));

export const platform = z
  .string('must be a platform id')
  .min(1)
  .max(PLATFORM_CHARS_MAX)
  .refine(isPlatform, `must be a platform id of at most ${PLATFORM_CHARS_MAX} bytes`);
/** Bank, branch and number, as statements show it. */
export const bankAccount = z.string('must be a bank account: 341/1234/56789-0').min(1).max(BANK_ACCOUNT_CHARS_MAX);
/** The query of a list whose items belong to a platform. */
export const platformFilter = z.object({ platform: platform.optional().describe('none: what has no platform') });
/** A text that is not blank, without the blanks around it. @param missing the fault of one that is blank or no text. */
export function text(charsMax: number, missing = 'must be a text', long = `is longer than ${charsMax} characters`) {
  return z.string(missing).trim().min(1, missing).max(charsMax, long);
}
/** Why a person changes the books. */
export const note = text(NOTE_CHARS_MAX, 'must say why');

export const newPlatform = z
  .boolean('must be true or false')
  .default(false)
  .describe('whether a platform that no transaction shows yet is meant');

/** A decimal text, parsed to cents. */
export const amount = z.string('must be a decimal text: "1234.56"').transform(centsOf(parseAmount));
/** A decimal text with a sign, parsed to cents. */
export const signedAmount = z.string('must be a decimal text: "1234.56"').transform(centsOf(parseSignedAmount));

const NO_REVISION = 'must be the number of a revision, from 1';

/** A query parameter: the revision of a report or a day manifest. */
export const revision = z.coerce.number(NO_REVISION).int(NO_REVISION).positive(NO_REVISION).optional();

/** A query parameter: a whole number of a range. */
export function wholeNumber(min: number, max: number) {
  const fault = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(fault).int(fault).min(min, fault).max(max, fault);
}

const { listMax, textCharsMax, matchKeysMax, keyCharsMax, valueCharsMax, bytesMax } = FILTER_LIMITS;

const texts = z.array(z.string().min(1));
const operation: z.ZodType<string> = z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`);

const lists = {
  platforms: texts.describe('none: what has no platform'),
  operations: z.array(operation),
  statuses: texts,
  reference_prefixes: texts,
  extra_prefixes: texts,
  extra_match: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])),
};
const expected = z
  .boolean()
  .describe(
    'whether changes of expected payments are sent too: `reference_prefixes` are of their number or any reference',
  );

/** The events that a merchant chooses of those that it may receive. An omitted or empty list matches all. */
export const ownFilterInput = describeFilter(z.strictObject(lists).partial());
/** The events that a merchant receives. An omitted or empty list matches all. */
export const filterInput = describeFilter(z.strictObject({ ...lists, expected }).partial());

function describeFilter<T extends z.ZodType<FilterInput>>(schema: T): T {
  return schema
    .describe(
      `lists have up to ${listMax} values of ${textCharsMax} characters; extra_match ${matchKeysMax} keys of ${keyCharsMax}, and values of ${valueCharsMax}; all together ${bytesMax / 1024} KiB`,
    )
    .superRefine((filter, found) => {
      for (const { field, reason, values } of findFilterFaults(filter))
        found.addIssue({ code: 'custom', path: [field], message: describe(reason, values) });
    });
}
