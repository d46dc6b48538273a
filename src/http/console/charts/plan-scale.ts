/**
 * The axis of a chart: which values its ticks have, and where a value lies. Pure. A value is an integer from the database
 * to the tick; only `toPixels` divides.
 */

/** The unit of a chart's values: cents, a count, milliseconds, seconds, or hundredths of a percent (`share`; of a sample: `estimate`). */
export type Unit = 'cents' | 'count' | 'ms' | 'seconds' | 'share' | 'estimate';
/** Bars begin at zero. Lines may leave it out, so that a large balance that changes little is no flat line. */
export type Form = 'bars' | 'lines';

/** `ticks` go from `low` to `high`, both included, each `step` above the one before. */
export type Scale = { low: bigint; high: bigint; step: bigint; ticks: bigint[] };

/** Steps wanted at most between the lowest and the highest value; rounding both ends adds up to two. */
const STEPS_MAX = 5n;
const CLOCK_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
const DAY_S = 86_400n;
const CLOCK_S = CLOCK_STEPS_S.map(BigInt);
const CLOCK_MS = [...[1, 2, 5, 10, 20, 50, 100, 200, 500].map(BigInt), ...CLOCK_S.map((step) => step * 1000n)];

/** Steps that people count in. Above these: 1, 2 or 5 times a power of ten, times `base`. */
const STEPS: Record<Unit, { steps: readonly bigint[]; base: bigint }> = {
  cents: { steps: [], base: 1n },
  count: { steps: [], base: 1n },
  share: { steps: [], base: 1n },
  estimate: { steps: [], base: 1n },
  seconds: { steps: CLOCK_S, base: DAY_S },
  ms: { steps: CLOCK_MS, base: DAY_S * 1000n },
};

/** Plans the axis of these values; without any, from 0 to 1. It has two to eight ticks. */
export function planScale(values: readonly bigint[], unit: Unit, form: Form): Scale {
  const { lowest, highest } = findRange(values, form);
  const step = findStep(highest - lowest, unit);
  const low = floorTo(lowest, step);
  const high = -floorTo(-highest, step);
  const ticks: bigint[] = [];
  for (let tick = low; tick <= high; tick += step) ticks.push(tick);
  return { low, high, step, ticks };
}

/** The distance of a value from the low end, on an axis of `length` pixels: with one decimal, between 0 and `length`. */
export function toPixels(value: bigint, { low, high }: Scale, length: number): number {
  const tenths = ((value - low) * BigInt(length * 10)) / (high - low);
  return Math.min(Math.max(Number(tenths) / 10, 0), length);
}

function findRange(values: readonly bigint[], form: Form): { lowest: bigint; highest: bigint } {
  const own = span(values);
  const apart = own.highest - own.lowest;
  const isFar = apart > 0n && [own.highest, -own.lowest].some((distance) => apart * 2n < distance);
  if (form === 'lines' && isFar) return own;
  const { lowest, highest } = span([0n, ...values]);
  return { lowest, highest: lowest === highest ? 1n : highest };
}

function span(values: readonly bigint[]): { lowest: bigint; highest: bigint } {
  const [first = 0n] = values;
  let [lowest, highest] = [first, first];
  for (const value of values) {
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  return { lowest, highest };
}

function findStep(apart: bigint, unit: Unit): bigint {
  const least = (apart + STEPS_MAX - 1n) / STEPS_MAX;
  const { steps, base } = STEPS[unit];
  const counted = steps.find((step) => step >= least);
  if (counted !== undefined) return counted;
  for (let power = base; ; power *= 10n) {
    const step = [1n, 2n, 5n].map((factor) => factor * power).find((one) => one >= least);
    if (step !== undefined) return step;
  }
}

/** The multiple of `step` at or below a value; bigint division rounds towards zero. */
function floorTo(value: bigint, step: bigint): bigint {
  const down = value / step - (value < 0n && value % step !== 0n ? 1n : 0n);
  return down * step;
}
