import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTick, formatValue } from '../../../src/http/console/charts/format-value.ts';
import { type Form, planScale, toPixels, type Unit } from '../../../src/http/console/charts/plan-scale.ts';
import { propertyOptions } from '../../support/property.ts';

const UNITS: Unit[] = ['cents', 'count', 'ms', 'seconds', 'share', 'estimate'];
const FORMS: Form[] = ['bars', 'lines'];
/** Any sum that a database can hold, small ones, one point, all zero, and none at all. */
const values = fc.array(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -1000n, max: 1000n }),
    fc.constant(0n),
  ),
  { maxLength: 20 },
);
const axis = fc.record({ values, unit: fc.constantFrom(...UNITS), form: fc.constantFrom(...FORMS) });

test('the ticks of an axis cover all values, evenly apart, and are two to eight', () => {
  fc.assert(
    fc.property(axis, ({ values: own, unit, form }) => {
      const { ticks, step, low, high } = planScale(own, unit, form);
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      expect(ticks.length).toBeLessThanOrEqual(8);
      expect([ticks[0], ticks.at(-1)]).toEqual([low, high]);
      for (const [index, tick] of ticks.slice(1).entries()) expect(tick - (ticks[index] ?? 0n)).toBe(step);
      for (const value of own) expect(value >= low && value <= high).toBe(true);
      if (form === 'bars') expect(low <= 0n && high >= 0n).toBe(true);
    }),
    propertyOptions(200, 20_000),
  );
});

test('each value has a finite place on the axis, and a larger one is not lower', () => {
  fc.assert(
    fc.property(axis, fc.integer({ min: 1, max: 2_000 }), ({ values: own, unit, form }, length) => {
      const scale = planScale(own, unit, form);
      expect([toPixels(scale.low, scale, length), toPixels(scale.high, scale, length)]).toEqual([0, length]);
      const sorted = own.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const places = sorted.map((value) => toPixels(value, scale, length));
      expect(places.every((place) => Number.isFinite(place) && place >= 0 && place <= length)).toBe(true);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }),
    propertyOptions(200, 20_000),
  );
});

test('no two ticks of an axis have the same text', () => {
  fc.assert(
    fc.property(axis, ({ values: own, unit, form }) => {
      const { ticks, step } = planScale(own, unit, form);
      const texts = ticks.map((tick) => formatTick(tick, step, unit));
      expect(new Set(texts).size, texts.join(' · ')).toBe(ticks.length);
    }),
    propertyOptions(200, 20_000),
  );
});

test.each([
  ['cents', [], ['R$ 0', 'R$ 0,01']],
  ['cents', [0n, 0n], ['R$ 0', 'R$ 0,01']],
  ['cents', [123_456n], ['R$ 0', 'R$ 500', 'R$ 1.000', 'R$ 1.500']],
  ['cents', [98_765_432n, 12_345n], ['R$ 0', 'R$ 200 mil', 'R$ 400 mil', 'R$ 600 mil', 'R$ 800 mil', 'R$ 1.000 mil']],
  ['cents', [-70_000n, 150_000n], ['-R$ 1.000', '-R$ 500', 'R$ 0', 'R$ 500', 'R$ 1.000', 'R$ 1.500']],
  ['count', [3n], ['0', '1', '2', '3']],
  ['share', [0n, 10_000n], ['0 %', '20 %', '40 %', '60 %', '80 %', '100 %']],
  ['share', [37n], ['0 %', '0,1 %', '0,2 %', '0,3 %', '0,4 %']],
  ['seconds', [100n], ['0 s', '30 s', '60 s', '90 s', '120 s']],
  ['seconds', [7_000n], ['0 min', '30 min', '60 min', '90 min', '120 min']],
  ['ms', [87n], ['0 ms', '20 ms', '40 ms', '60 ms', '80 ms', '100 ms']],
  ['ms', [4_200n], ['0 s', '1 s', '2 s', '3 s', '4 s', '5 s']],
] as const)('an axis of %s for %s is readable', (unit, own, expected) => {
  const { ticks, step } = planScale(own, unit, 'bars');
  expect(ticks.map((tick) => formatTick(tick, step, unit))).toEqual(expected);
});

test('a line of large values that change little leaves zero out, one that changes much does not', () => {
  expect(planScale([1_000_000n, 1_040_000n], 'cents', 'lines')).toMatchObject({ low: 1_000_000n, high: 1_040_000n });
  expect(planScale([1_000_000n, 3_000_000n], 'cents', 'lines').low).toBe(0n);
  expect(planScale([-1_040_000n, -1_000_000n], 'cents', 'lines').high).toBe(-1_000_000n);
  expect(planScale([1_000_000n], 'cents', 'lines').low).toBe(0n);
});

test.each([
  [123_456n, 'cents', 'R$ 1.234,56'],
  [-123_456n, 'cents', '-R$ 1.234,56'],
  [1_234n, 'count', '1.234'],
  [0n, 'seconds', '0 s'],
  [125n, 'seconds', '2 min 5 s'],
  [7_200n, 'seconds', '2 h'],
  [187_200n, 'seconds', '2 d 4 h'],
  [9_999n, 'ms', '9.999 ms'],
  [65_000n, 'ms', '1 min 5 s'],
  [9_700n, 'share', '97 %'],
  [125n, 'share', '1,25 %'],
  [9_742n, 'estimate', '≈ 97 %'],
  [120n, 'share', '1,2 %'],
  [5n, 'share', '0,05 %'],
] as const)('the value %s in %s is shown as %s', (value, unit, text) => {
  expect(formatValue(value, unit)).toBe(text);
});
