/** Few rows and short slices: each ratio roughly, in seconds. */
export const QUICK = process.env.BENCH_QUICK === '1';

/** A row of the table that `npm run bench` prints; `ok` is false when the target is missed. */
export type Figure = { figure: string; value: string | number; target: string; ok: boolean };

/** Makes a figure whose value must be at most, or at least, a bound; the value is rounded to two decimals. */
export function figure(name: string, value: number, bound: number, side: 'least' | 'most' = 'most'): Figure {
  const ok = side === 'least' ? value >= bound : value <= bound;
  return { figure: name, value: Math.round(value * 100) / 100, target: `${side === 'least' ? '≥' : '≤'} ${bound}`, ok };
}

/** Returns the value at or below which this share of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
