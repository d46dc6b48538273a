/** The values of an OFX: days and amounts. Pure. */
import { type Day, isDay } from '../../domain/calendar.ts';
import { parseSignedAmount } from '../../domain/money.ts';

const DATE = /^(\d{4})(\d\d)(\d\d)(?:\d{2}|\d{4}|\d{6}(?:\.\d{1,3})?)?\s*(?:\[[^[\]]{1,16}\])?$/;
const AMOUNT_CHARS_MAX = 32;
const AMOUNT = /^([+-]?)0*(\d{1,32})(?:[.,](\d{1,2})(0*))?$/;
const GROUP_DIGITS = 3;

/** `YYYYMMDD`, perhaps with a time and a zone, which is not applied. */
export function parseOfxDay(text: string): Day | undefined {
  const [, year, month, date] = DATE.exec(text) ?? [];
  const day = `${year}-${month}-${date}`;
  return isDay(day) ? day : undefined;
}

/**
 * `1234.56`, `-1234,56`, `+12`, `-0012.3`, `-8.95000`: undefined for a fraction of a cent, grouping, or an amount beyond our
 * limit. `1.500` is undefined too: it may be a thousand.
 */
export function parseOfxAmount(text: string): bigint | undefined {
  const [, sign, whole, fraction, zeros = ''] = AMOUNT.exec(text.slice(0, AMOUNT_CHARS_MAX + 1)) ?? [];
  if (whole === undefined || text.length > AMOUNT_CHARS_MAX) return undefined;
  const isGroup = zeros.length === 1 && fraction?.length === 2 && whole !== '0' && whole.length <= GROUP_DIGITS;
  if (isGroup) return undefined;
  return parseSignedAmount(`${sign === '-' ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`);
}
