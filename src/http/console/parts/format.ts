import type { Count } from '../../../callbacks/health/count-undelivered.ts';
import type { Calendar, Day, WallTime } from '../../../domain/calendar.ts';
import { formatDay as formatDayIn, formatWallTime as formatWallTimeIn } from '../../../domain/language/language.ts';
import { formatMoney as formatMoneyIn, groupThousands, parseSum } from '../../../domain/money.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { type Html, html } from './html.ts';

/** The amount in hints that show how amounts are written in the page's language. */
export const EXAMPLE_CENTS = 123_456n;

/** `R$ 1.234,56`, in English `R$ 1,234.56`. */
export function formatMoney(cents: bigint): string {
  return formatMoneyIn(cents, language());
}

/** Formats an amount as markup that does not break within a line. */
export function money(cents: bigint): Html {
  return html`<span class="money${cents < 0n && ' negative'}">${formatMoney(cents)}</span>`;
}

/** An amount of our API, a decimal text. */
export function moneyOf(amount: string | null | undefined): Html {
  const cents = amount === null || amount === undefined ? undefined : parseSum(amount);
  return cents === undefined ? EMPTY_VALUE : money(cents);
}

/** Describes what is at stake in several mismatches; empty where they are no matter of money. */
export function moneyAtStake(cents: bigint): Html {
  return cents === 0n ? EMPTY_VALUE : money(cents);
}

export const EMPTY_VALUE = html`<span class="nothing">–</span>`;

/** `1.234`, in English `1,234`. */
export function formatCount(count: number | bigint): string {
  return groupThousands(String(count), language());
}

/** `1.234`, or `mais de 50.000`. */
export function formatBounded({ n, isMore }: Count): string {
  return isMore ? t('mais de {n}', { n: formatCount(n) }) : formatCount(n);
}

/** `21/11/2026`, in English `21 Nov 2026`, of a day of the provider's calendar. */
export function formatDay(day: Day): string {
  return formatDayIn(day, language());
}

/** `21/11/2026 08:00:00`, in English `21 Nov 2026 08:00:00`, of a wall time. */
export function formatWallTime(wall: WallTime): string {
  return formatWallTimeIn(wall, language());
}

/** Formats an instant in ISO 8601 on the provider's clock. */
export function moment(calendar: Calendar, instant: string | Date | null | undefined): Html {
  if (instant === null || instant === undefined) return EMPTY_VALUE;
  const at = new Date(instant);
  const wall = calendar.toWallTime(at);
  return html`<time datetime="${at.toISOString()}">${formatWallTime(wall)}</time>`;
}

const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

/** `há 3 min`: how long ago an instant is. */
export function formatAge(instant: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - instant.getTime()) / SECOND_MS);
  return seconds < 1 ? t('agora') : t('há {duration}', { duration: formatDuration(seconds) });
}

/** `45 s`, `3 min`, `5 h`, `2 d`: a duration, truncated to its largest unit. */
export function formatDuration(seconds: number): string {
  if (seconds < MINUTE_S) return `${seconds} s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min`;
  if (seconds < 2 * DAY_S) return `${Math.floor(seconds / HOUR_S)} h`;
  return `${Math.floor(seconds / DAY_S)} d`;
}

const UNITS = [
  { seconds: HOUR_S, unit: 'h' },
  { seconds: MINUTE_S, unit: 'min' },
];

/** `90 s`, `5 min`, `24 h`: a duration, exact, in the largest unit that it is a multiple of. */
export function formatExactDuration(seconds: number): string {
  const found = UNITS.find((one) => seconds > 0 && seconds % one.seconds === 0);
  return found ? `${seconds / found.seconds} ${found.unit}` : `${seconds} s`;
}

/** The first eight characters of an id, which are mostly unique in a list. Its title is the whole id. */
export function shortId(id: string): Html {
  return html`<span class="id short" title="${id}">${shortenId(id)}</span>`;
}

/** Shortens an id as plain text. */
export function shortenId(id: string): string {
  const [prefix, rest] = id.includes('_')
    ? [id.slice(0, id.indexOf('_') + 1), id.slice(id.indexOf('_') + 1)]
    : ['', id];
  return rest.length > 8 ? `${prefix}${rest.slice(0, 8)}…` : id;
}
