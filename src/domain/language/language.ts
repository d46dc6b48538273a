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

const MONTHS_EN = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A day of the provider's calendar: `21/11/2026`, in English `21 Nov 2026`. */
export function formatDay(day: Day, language: Language): string {
  const [year = '', month = '', date = ''] = day.split('-');
  return language === 'en'
    ? `${Number(date)} ${MONTHS_EN[Number(month) - 1] ?? month} ${year}`
    : `${date}/${month}/${year}`;
}

/** The provider's wall clock: `21/11/2026 08:00:00`, in English `21 Nov 2026 08:00:00`. */
export function formatWallTime(wall: WallTime, language: Language): string {
  return `${formatDay(wall.slice(0, 10), language)} ${wall.slice(11)}`;
}
