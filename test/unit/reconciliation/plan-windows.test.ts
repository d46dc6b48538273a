import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, listDays } from '../../../src/domain/calendar.ts';
import { fitBounds } from '../../../src/reconciliation/windows/learn-bounds.ts';
import {
  isInWindow,
  type ListBounds,
  planWindows,
  toQueryDates,
} from '../../../src/reconciliation/windows/plan-windows.ts';
import { propertyOptions } from '../../support/property.ts';

const [D1, D2, D3] = ['2026-03-01', '2026-03-02', '2026-03-03'];
const side = fc.constantFrom('inclusive' as const, 'exclusive' as const);
const someBounds = fc.record({ low: side, high: side });

test('windows cover each day of a range once, in order, whether or not the bounds are learnt', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 }), fc.option(someBounds, { nil: undefined }), (length, bounds) => {
      const to = addDays(D1, length);
      const days = planWindows(D1, to, bounds).flatMap((window) => listDays(window.fromDay, window.toDay));
      expect(days).toEqual(listDays(D1, to));
    }),
    propertyOptions(30, 300),
  );
});

test('windows are single days once the bounds are learnt, and weeks before', () => {
  expect(planWindows(D1, '2026-03-10', { low: 'inclusive', high: 'inclusive' })).toHaveLength(10);
  expect(planWindows(D1, '2026-03-10', undefined)).toEqual([
    { fromDay: D1, toDay: '2026-03-07' },
    { fromDay: '2026-03-08', toDay: '2026-03-10' },
  ]);
});

test('the queried dates hold the whole window under the learnt bounds, and under any bounds before they are learnt', () => {
  const within = (bounds: ListBounds, day: string, asked: { initialDate: string; finalDate: string }): boolean =>
    (bounds.low === 'inclusive' ? day >= asked.initialDate : day > asked.initialDate) &&
    (bounds.high === 'inclusive' ? day <= asked.finalDate : day < asked.finalDate);
  fc.assert(
    fc.property(someBounds, fc.boolean(), (bounds, learnt) => {
      const window = { fromDay: D1, toDay: D2 };
      const asked = toQueryDates(window, learnt ? bounds : undefined);
      expect(listDays(D1, D2).every((day) => within(bounds, day, asked))).toBe(true);
      // learnt, not one day more
      if (learnt) expect([addDays(D1, -1), D3].some((day) => within(bounds, day, asked))).toBe(false);
    }),
    propertyOptions(30, 300),
  );
});

test('a row belongs to the window of its own day, to the last second', () => {
  const window = { fromDay: D1, toDay: D2 };
  expect(isInWindow(window, `${D1} 00:00:00`)).toBe(true);
  expect(isInWindow(window, `${D2} 23:59:59`)).toBe(true);
  expect(isInWindow(window, `${D3} 00:00:00`)).toBe(false);
  expect(isInWindow(window, '2026-02-28 23:59:59')).toBe(false);
});

test('two consecutive days distinguish all bounds of a range, with equal counts too', () => {
  fc.assert(
    fc.property(someBounds, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }), (bounds, a, b) => {
      const days = [...(bounds.low === 'inclusive' ? [D1] : []), ...(bounds.high === 'inclusive' ? [D2] : [])];
      const total = (days.includes(D1) ? a : 0) + (days.includes(D2) ? b : 0);
      const counts = new Map([
        [D1, a],
        [D2, b],
      ]);
      expect(fitBounds(counts, { first: D1, last: D2 }, { total, days })).toEqual(bounds);
    }),
    propertyOptions(30, 300),
  );
});

test('an answer that fits no interpretation of the dates, or has rows outside its bounds, teaches nothing', () => {
  const counts = new Map([
    [D1, 5],
    [D2, 5],
  ]);
  const pair = { first: D1, last: D2 };
  expect(fitBounds(counts, pair, { total: 9, days: [D1, D2] })).toBeUndefined();
  expect(fitBounds(counts, pair, { total: 10, days: [D1, D2, D3] })).toBeUndefined();
  expect(fitBounds(counts, pair, { total: 5, days: [] }), 'either half-open reading').toBeUndefined();
});
