import { type Language, NUMBER_MARKS } from '../../domain/language/language.ts';
import { formatAmount } from '../../domain/money.ts';
import { type InOne, inOne } from '../both.ts';
import { REPORT_TEXTS } from './report-texts.ts';

/** Every word of a report, in one language, and its marks in a number. */
export type Texts = InOne<typeof REPORT_TEXTS> & { decimal: string; grouping: string };

const TEXTS: Record<Language, Texts> = {
  'pt-BR': { ...inOne(REPORT_TEXTS, 'pt-BR'), ...NUMBER_MARKS['pt-BR'] },
  en: { ...inOne(REPORT_TEXTS, 'en'), ...NUMBER_MARKS.en },
};

export function textsOf(locale: Language): Texts {
  return TEXTS[locale];
}

/** Cents as a person of that language writes them. */
export function formatLocalAmount(cents: bigint, texts: Texts): string {
  return formatLocalDecimal(formatAmount(cents), texts);
}

/** A decimal text, likewise. */
export function formatLocalDecimal(amount: string, texts: Texts): string {
  const [whole = '', part] = amount.split('.');
  return `${group(whole, texts)}${texts.decimal}${part}`;
}

/** A number of things, likewise. */
export function formatLocalCount(count: number, texts: Texts): string {
  return group(String(count), texts);
}

function group(digits: string, texts: Texts): string {
  return digits.replace(/\B(?=(?:\d{3}){1,12}$)/g, texts.grouping);
}

/** `2026-11-20` as `20/11/2026`. */
export function formatDay(day: string): string {
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
}

/** `2026-11` as `11/2026`. */
export function formatMonth(month: string): string {
  return `${month.slice(5, 7)}/${month.slice(0, 4)}`;
}

/** `2026-11-20 23:30:00` as `20/11/2026 23:30:00`. */
export function formatMoment(wall: string): string {
  return `${formatDay(wall)} ${wall.slice(11)}`;
}

/** `fee_out`: the kind of an adjustment, and where its money goes. Its reversal has the name of the adjustment itself. */
export function codeAdjustment(kind: string, cents: bigint, isReversal = false): string {
  return `${kind}_${cents < 0n === isReversal ? 'in' : 'out'}`;
}
