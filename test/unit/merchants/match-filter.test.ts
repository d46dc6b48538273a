import { expect, test } from 'vitest';
import { completeFilter, type FilterInput, matchesFilter } from '../../../src/merchants/match-filter.ts';

const FACTS = {
  operation: 'cashin' as const,
  status: 'paid',
  reference: 'lojaX-7',
  extra: '{"store":"12","till":3,"open":true}',
  platform: 'p1',
};

const CASES: Array<[string, FilterInput, boolean]> = [
  ['nothing is asked for', {}, true],
  ['its platform is among those', { platforms: ['p0', 'p1'] }, true],
  ['its platform differs in case', { platforms: ['P1'] }, false],
  ['its operation is another', { operations: ['cashout'] }, false],
  ['its status is among those', { statuses: ['refund', 'paid'] }, true],
  ['its reference begins so', { reference_prefixes: ['outra-', 'lojaX-'] }, true],
  ['its reference only contains it', { reference_prefixes: ['X-'] }, false],
  ['its extra begins so', { extra_prefixes: ['{"store"'] }, true],
  ['its extra has the key and value', { extra_match: { store: '12' } }, true],
  ['its extra has the value as a number', { extra_match: { store: 12, till: '3', open: true } }, true],
  ['its extra lacks one of the keys', { extra_match: { store: '12', city: 'SP' } }, false],
  ['its extra has a key of every object', { extra_match: { constructor: 'x' } }, false],
  ['one of two lists fails', { platforms: ['p1'], reference_prefixes: ['outra-'] }, false],
];

test.each(CASES)('an event matches when it should: %s', (_why, filter, matches) => {
  expect(matchesFilter(completeFilter(filter), FACTS)).toBe(matches);
});

test.each(['vip:1', '{"store":', '[1]', '', null])(
  'an extra that is no JSON object never matches by key: %s',
  (extra) => {
    expect(matchesFilter(completeFilter({ extra_match: { store: '12' } }), { ...FACTS, extra })).toBe(false);
  },
);

test('a transaction without a platform or reference matches only where none is asked for', () => {
  const bare = { ...FACTS, platform: null, reference: null };
  expect(matchesFilter(completeFilter({ platforms: ['p1'] }), bare)).toBe(false);
  expect(matchesFilter(completeFilter({ reference_prefixes: ['a'] }), bare)).toBe(false);
  expect(matchesFilter(completeFilter(), bare)).toBe(true);
});
