/** Fields that several requests have. Their messages name the rule, never the value. */
import { z } from 'zod';
import { NOTE_CHARS_MAX } from '../access/check-note.ts';
import { isDay } from '../domain/calendar.ts';
import { centsOf } from '../domain/cents-of.ts';
import { AMOUNT_CENTS_MAX, formatAmount, parseSignedAmount } from '../domain/money.ts';
import { PLATFORM_CHARS_MAX } from '../domain/platform.ts';

export const day = z.string('must be a day: YYYY-MM-DD').refine(isDay, 'must be a day: YYYY-MM-DD');

export const instant = z.iso.datetime({ offset: true, error: 'must be an instant: 2026-11-21T00:00:00-03:00' });

export const platform = z.string('must be a platform id').min(1).max(PLATFORM_CHARS_MAX);
/** The query of a list whose items belong to a platform. */
export const platformFilter = z.object({ platform: platform.optional().describe('none: what has no platform') });
/** Why a person changes the books. */
export const note = z
  .string('must say why')
  .trim()
  .min(1, 'must say why')
  .max(NOTE_CHARS_MAX, `is longer than ${NOTE_CHARS_MAX} characters`);

export const newPlatform = z
  .boolean('must be true or false')
  .default(false)
  .describe('whether a platform that no transaction shows yet is meant');

export const NO_AMOUNT = `must be an amount with at most two decimals, up to ${formatAmount(AMOUNT_CENTS_MAX)}`;

/** A decimal text with a sign, parsed to cents. */
export const signedAmount = z
  .string('must be a decimal text: "1234.56"')
  .transform(centsOf(parseSignedAmount, NO_AMOUNT));

const NO_REVISION = 'must be the number of a revision, from 1';

/** A query parameter: the revision of a report or a day manifest. */
export const revision = z.coerce.number(NO_REVISION).int(NO_REVISION).positive(NO_REVISION).optional();

/** A query parameter: a whole number of a range. */
export function wholeNumber(min: number, max: number) {
  const fault = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(fault).int(fault).min(min, fault).max(max, fault);
}
