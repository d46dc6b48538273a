import { NUMBER_MARKS } from '../../../domain/language/language.ts';
import { language } from '../../../texts/language.ts';
import { words } from '../../../texts/translate.ts';
import { formatCount, formatMoney } from '../parts/format.ts';
import type { Unit } from './plan-scale.ts';

/** A value of a chart as text: `R$ 1.234,56`, `1.234`, `250 ms`, `2 min 5 s`, `1,25 %`, `≈ 1 %`. */
export function formatValue(value: bigint, unit: Unit): string {
  switch (unit) {
    case 'cents':
      return formatMoney(value);
    case 'count':
      return groupInteger(value);
    case 'ms':
      return value < 10_000n ? `${groupInteger(value)} ms` : formatSeconds(value / 1000n);
    case 'seconds':
      return formatSeconds(value);
    case 'share':
      return formatShare(value);
    case 'estimate':
      return `≈ ${formatShare(value - (value % 100n))}`;
  }
}

/**
 * A tick as a short text. Each unit of it is at most a step, so that no tick is rounded: `R$ 200 mil`, `1.500`, `30 s`.
 * @param step the distance between two ticks: it decides the unit of all of them.
 */
export function formatTick(tick: bigint, step: bigint, unit: Unit): string {
  if (unit === 'share' || unit === 'estimate') return formatShare(tick);
  if (tick === 0n && unit === 'cents') return 'R$ 0';
  if (tick === 0n && unit === 'count') return '0';
  if (unit === 'cents' && step < CENTS) return formatMoney(tick);
  const largest = UNITS[unit].find(({ size }) => size <= step);
  const count = groupInteger(tick / (largest?.size ?? 1n));
  if (unit === 'cents') return tick < 0n ? `-R$ ${count.slice(1)}${nameOf(largest)}` : `R$ ${count}${nameOf(largest)}`;
  return `${count}${nameOf(largest)}`;
}

const CENTS = 100n;
type Size = { size: bigint; name: string };
const DECIMAL: Size[] = [
  { size: 1_000_000_000n, name: 'bi' },
  { size: 1_000_000n, name: 'mi' },
  { size: 1_000n, name: 'mil' },
  { size: 1n, name: '' },
];
const CLOCK: Size[] = [
  { size: 86_400n, name: 'd' },
  { size: 3_600n, name: 'h' },
  { size: 60n, name: 'min' },
  { size: 1n, name: 's' },
];
const times = (sizes: Size[], factor: bigint): Size[] => sizes.map(({ size, name }) => ({ size: size * factor, name }));

/** Units by their size, the largest first. Each step that is as large as a unit is a multiple of it. */
const UNITS: Record<Exclude<Unit, 'share' | 'estimate'>, Size[]> = {
  cents: times(DECIMAL, CENTS),
  count: DECIMAL,
  seconds: CLOCK,
  ms: [...times(CLOCK, 1000n), { size: 1n, name: 'ms' }],
};

/** Short names of large numbers. */
const SHORT = words({ mil: 'mil', mi: 'mi', bi: 'bi' });

function nameOf(unit: Size | undefined): string {
  if (unit === undefined || unit.name === '') return '';
  return ` ${unit.name in SHORT ? SHORT[unit.name as keyof typeof SHORT] : unit.name}`;
}

function groupInteger(value: bigint): string {
  return `${value < 0n ? '-' : ''}${formatCount(value < 0n ? -value : value)}`;
}

/** The two largest units that are not zero: `45 s`, `2 min 5 s`, `3 h`, `2 d 4 h`. */
function formatSeconds(seconds: bigint): string {
  const at = CLOCK.findIndex(({ size }) => size <= seconds);
  const [large, small] = at < 0 ? [] : CLOCK.slice(at, at + 2);
  if (!large) return '0 s';
  const rest = small ? (seconds % large.size) / small.size : 0n;
  return `${groupInteger(seconds / large.size)} ${large.name}${small && rest > 0n ? ` ${rest} ${small.name}` : ''}`;
}

/** `97 %`, `1,25 %` of hundredths of a percent. */
function formatShare(hundredths: bigint): string {
  const decimals = String(hundredths % 100n)
    .padStart(2, '0')
    .replace(/0{1,2}$/, '');
  return `${formatCount(hundredths / 100n)}${decimals && `${NUMBER_MARKS[language()].decimal}${decimals}`} %`;
}
