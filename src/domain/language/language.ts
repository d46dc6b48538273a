/** The languages of pages and alerts, and how each writes numbers and dates. Pure. */
import type { Day, WallTime } from '../calendar.ts';

/** The first one is the source language: texts in the code are in it. */
export const LANGUAGES = ['pt-BR', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The marks in a number: `1.234,56` and `1,234.56`. */
export const NUMBER_MARKS = {
  'pt-BR': { decimal: ',', grouping: '.' },
  en: { decimal: '.', grouping: ',' },
} as const satisfies Record<Language, { decimal: string; grouping: string }>;

const MONTHS = {
  'pt-BR': 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' '),
  en: 'January February March April May June July August September October November December'.split(' '),
} as const satisfies Record<Language, string[]>;
const SHORT_CHARS = 3;

/** A day of the provider's calendar: `21/11/2026`, in English `21 Nov 2026`. */
export function formatDay(day: Day, language: Language): string {
  const [year = '', month = '', date = ''] = day.split('-');
  const name = MONTHS.en[Number(month) - 1]?.slice(0, SHORT_CHARS);
  return language === 'en' ? `${Number(date)} ${name ?? month} ${year}` : `${date}/${month}/${year}`;
}

/** The month of a name in any of the languages, or of its beginning from three letters on: 1 to 12. */
export function findMonth(text: string): number | undefined {
  const begins = (name: string): boolean => name.toLowerCase().startsWith(text.toLowerCase());
  if (text.length < SHORT_CHARS) return undefined;
  const found = LANGUAGES.map((language) => MONTHS[language].findIndex(begins)).find((index) => index >= 0);
  return found === undefined ? undefined : found + 1;
}

/** The provider's wall clock: `21/11/2026 08:00:00`, in English `21 Nov 2026 08:00:00`. */
export function formatWallTime(wall: WallTime, language: Language): string {
  return `${formatDay(wall.slice(0, 10), language)} ${wall.slice(11)}`;
}
