import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planBucket } from '../../../src/provider/open-token-bucket.ts';
import { PRIORITIES } from '../../../src/provider/schedule-requests.ts';
import { propertyOptions } from '../../support/property.ts';

test('at any rate no minute sees more requests than the rate, and each priority can get a token', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 9_999_999 }), (perMinute) => {
      const { capacity, perSecond, slice, reserve } = planBucket(perMinute);
      // a full bucket, and what flows into it in a minute and the second in which a token may still be used
      expect(capacity + perSecond * 61).toBeLessThanOrEqual(perMinute + 1e-6);
      const reserves = PRIORITIES.map(reserve);
      expect(reserves).toEqual(reserves.toSorted((a, b) => a - b));
      for (const one of reserves) expect(capacity - one).toBeGreaterThanOrEqual(1);
      expect(slice).toBeGreaterThanOrEqual(1);
      expect(slice, 'what is taken at once is used within its second').toBeLessThanOrEqual(Math.max(1, perSecond));
    }),
    propertyOptions(30, 300),
  );
});

test('a rate of one request a minute is kept', () => {
  const { capacity, perSecond } = planBucket(1);
  expect(capacity).toBe(1);
  expect(1 / perSecond, 'seconds between two').toBeGreaterThan(60);
});

test('at 60 a minute a verification finds the tokens that a backfill must leave', () => {
  const { capacity, reserve } = planBucket(60);
  expect(capacity).toBe(6);
  expect(PRIORITIES.map((priority) => reserve(priority))).toEqual([0, 1, 1.5, 2, 3]);
});
