import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeFilter, isWithin, matchesFilter } from '../../../src/merchants/match-filter.ts';
import { propertyOptions } from '../../support/property.ts';

const some = <T>(...values: T[]) => fc.subarray(values);
const anyFilter = fc
  .record({
    platforms: some('p', 'none'),
    operations: some('cashin', 'cashout'),
    statuses: some('paid', 'pending'),
    reference_prefixes: some('a', 'ab', 'b'),
    extra_prefixes: some('{', '{"store":"1'),
    extra_match: fc.constantFrom<Record<string, string | number>>({}, { store: '12' }, { store: 12 }, { store: 7 }),
  })
  .map(completeFilter);
const anyFacts = fc.record({
  operation: fc.constantFrom('cashin' as const, 'cashout' as const),
  status: fc.constantFrom('paid', 'pending', 'denied'),
  platform: fc.constantFrom('p', 'q', null),
  reference: fc.constantFrom('a', 'abc', 'b', 'c', null),
  extra: fc.constantFrom('{"store":"12"}', '{"store":7}', 'x', null),
});

test('an event that matches a filter also matches each filter that it is within', () => {
  fc.assert(
    fc.property(anyFilter, anyFilter, fc.array(anyFacts, { minLength: 5 }), (inner, outer, events) => {
      fc.pre(isWithin(inner, outer));
      for (const facts of events.filter((one) => matchesFilter(inner, one)))
        expect(matchesFilter(outer, facts)).toBe(true);
    }),
    propertyOptions(300, 5_000),
  );
});

test('a filter is within itself and within none; a longer prefix is within a shorter one, and not the reverse', () => {
  fc.assert(
    fc.property(anyFilter, (filter) => {
      expect(isWithin(filter, filter)).toBe(true);
      expect(isWithin(filter, completeFilter())).toBe(true);
    }),
    propertyOptions(100, 1_000),
  );
  const [short, long] = ['a', 'ab'].map((prefix) => completeFilter({ reference_prefixes: [prefix] }));
  if (!short || !long) throw new Error('two filters');
  expect([isWithin(long, short), isWithin(short, long)]).toEqual([true, false]);
  expect(isWithin(completeFilter(), short)).toBe(false);
});
