import { formatAmount } from '../../domain/money.ts';
import type { Locale } from '../plan/report-plan.ts';
import { EN } from './texts-en.ts';
import { PT_BR, type Texts } from './texts-pt-br.ts';

export type { Texts };

const TEXTS: Record<Locale, Texts> = { 'pt-BR': PT_BR, en: EN };

export function textsOf(locale: Locale): Texts {
  return TEXTS[locale];
}

/** `{name}` in a text is replaced by its value. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** A code in words; one that has none stands as it came. */
export function describeCode(words: Record<string, string>, code: string): string {
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code;
}

/** Cents as a person of that language writes them. */
export function formatLocalAmount(cents: bigint, texts: Texts): string {
  return formatLocalDecimal(formatAmount(cents), texts);
}

/** The same of a decimal text. */
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
