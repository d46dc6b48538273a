import { expect, test } from 'vitest';
import { canProveByRepeat, checkPass, type Pass } from '../../../src/provider/list/check-pass.ts';

function pass(facts: Partial<Pass> = {}): Pass {
  const lastTotal = facts.lastTotal ?? 250;
  const firstTotal = facts.firstTotal ?? 250;
  return {
    firstTotal,
    lastTotal,
    totals: { min: Math.min(firstTotal, lastTotal), max: Math.max(firstTotal, lastTotal) },
    pageSizes: [100, 100, 50],
    distinctIds: 250,
    createdSince: 0,
    newAfterLastPage: false,
    endReached: true,
    withoutId: 0,
    repeatedPages: 0,
    ...facts,
  };
}

test('a pass is clean when both totals and the distinct ids agree', () => {
  expect(checkPass(pass())).toEqual({ clean: true });
  expect(checkPass(pass({ firstTotal: 0, lastTotal: 0, distinctIds: 0, pageSizes: [0] }))).toEqual({ clean: true });
});

test.each<[string, Partial<Pass>]>([
  ['an id lacks', { distinctIds: 249 }],
  ['there are more ids than announced', { distinctIds: 251 }],
  ['the total rose on an ended day', { lastTotal: 251, distinctIds: 251 }],
  ['the total fell', { lastTotal: 249, distinctIds: 249 }],
  ['the total wavered in between', { totals: { min: 249, max: 250 } }],
  ['a page in the middle was short', { pageSizes: [100, 99, 51] }],
  ['the page after the last was new', { newAfterLastPage: true }],
  ['a row has no id', { withoutId: 1 }],
])('a pass is not clean when %s', (_, facts) => {
  expect(checkPass(pass(facts))).toMatchObject({ clean: false });
});

test('growth by as many as were created since the read began is no drift, more is', () => {
  expect(checkPass(pass({ lastTotal: 253, distinctIds: 253, createdSince: 3 }))).toEqual({ clean: true });
  expect(checkPass(pass({ lastTotal: 253, distinctIds: 253, createdSince: 2 }))).toMatchObject({ clean: false });
});

test('two equal passes prove nothing while they hold fewer ids than were ever announced', () => {
  expect(canProveByRepeat(pass({ pageSizes: [50, 50] }))).toBe(true);
  expect(canProveByRepeat(pass({ lastTotal: 10, distinctIds: 250 }))).toBe(true);
  expect(canProveByRepeat(pass({ distinctIds: 249 }))).toBe(false);
  expect(canProveByRepeat(pass({ totals: { min: 250, max: 251 } }))).toBe(false);
  expect(canProveByRepeat(pass({ endReached: false }))).toBe(false);
  expect(canProveByRepeat(pass({ withoutId: 1 }))).toBe(false);
});
