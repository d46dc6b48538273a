import { expect, test } from 'vitest';
import { EXPECTED_STATES } from '../../../src/expected/decide/decide-state.ts';
import { splitAmount } from '../../../src/expected/decide/split-amount.ts';

test.each([
  ['open', 1_000n, 0n, [1_000n, 0n, 0n]],
  ['underpaid', 1_000n, 900n, [100n, 0n, 0n]],
  ['overpaid', 1_000n, 1_100n, [0n, 100n, 0n]],
  ['paid_twice', 1_000n, 2_000n, [0n, 1_000n, 0n]],
  ['partly_refunded', 1_000n, 400n, [0n, 0n, 600n]],
  ['cancelled', 1_000n, 0n, [0n, 0n, 1_000n]],
  // nothing was owed any more: all of it goes back
  ['paid_after_cancel', 1_000n, 1_000n, [0n, 1_000n, 1_000n]],
] as const)(
  'of an order that is %s, each cent is owed, too much or no longer owed',
  (state, amountCents, settledCents, split) => {
    expect(Object.values(splitAmount({ state, amountCents, settledCents }))).toEqual(split);
  },
);

test('the parts add up to the amount in each state', () => {
  for (const state of EXPECTED_STATES)
    for (const settledCents of [0n, 7n, 10n, 25n]) {
      const { owedCents, surplusCents, notOwedCents } = splitAmount({ state, amountCents: 10n, settledCents });
      expect(settledCents - surplusCents + owedCents + notOwedCents).toBe(10n);
    }
});
