/** The values of an OFX: days, amounts, and texts that name a balance. Pure. */
import { type Day, isDay } from '../../domain/calendar.ts';
import { parseSignedAmount } from '../../domain/money.ts';

const DATE = /^(\d{4})(\d\d)(\d\d)(?:\d{2}|\d{4}|\d{6}(?:\.\d{1,3})?)?\s*(?:\[[^[\]]{1,16}\])?$/;
const AMOUNT_CHARS_MAX = 32;
const AMOUNT = /^([+-]?)0*(\d{1,32})(?:[.,](\d{1,2})(0*))?$/;
const GROUP_DIGITS = 3;
/** The text of a row that shows a balance and is no transaction: `Saldo Anterior`, `*** S A L D O ***`. */
export const BALANCE_ROW = /^[^\p{L}]*(?:s[\s.]*a[\s.]*l[\s.]*d[\s.]*o|sdo|sld)(?!\p{L})/iu;
/** Words of the names of balances; single letters are of `C/C`, or spaced. */
const BALANCE_WORDS = new Set([
  ...['ANTERIOR', 'ANT', 'INICIAL', 'FINAL', 'ATUAL', 'PARCIAL', 'TOTAL', 'DISPONIVEL', 'DISP', 'BLOQUEADO', 'BLOQ'],
  ...[
    'LIBERADO',
    'CONTABIL',
    'DO',
    'DA',
    'DE',
    'EM',
    'DIA',
    'MES',
    'PERIODO',
    'CONTA',
    'CORRENTE',
    'CC',
    'APLIC',
    'AUT',
  ],
  ...['MAIS', 'APLICACAO', 'AUTOMATICA', 'INVEST', 'FACIL', 'COM', 'SEM', 'LIMITE', 'PARA', 'SAQUE', 'PROVISORIO'],
]);

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

/** Whether a text has no other words than those with which banks name a balance. */
export function isBalanceText(text: string): boolean {
  if (!BALANCE_ROW.test(text)) return false;
  const plain = text.toUpperCase().normalize('NFD').replace(/\p{M}/gu, '').replace(BALANCE_ROW, ' ');
  return (plain.match(/\p{L}+/gu) ?? []).every((word) => word.length === 1 || BALANCE_WORDS.has(word));
}
