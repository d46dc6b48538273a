import { expect, test } from 'vitest';
import { inventExample } from '../../../src/callbacks/render/invent-example.ts';
import { parseSignedAmount } from '../../../src/domain/money.ts';
import { chooseState, nameReason } from '../../../src/expected/decide/decide-state.ts';
import { EXAMPLE_TYPES } from '../../../src/operations/merchants/message-types.ts';

type Order = Record<'state' | 'amount' | 'paid' | 'refunded' | 'difference', string> & {
  reason_code: string | null;
  matches: { transaction_id: string; amount: string }[];
};

const TYPES = EXAMPLE_TYPES.filter((type) => type.startsWith('pix.expected.'));

test('each state of an order has an example', () => {
  expect(TYPES).toHaveLength(10);
});

test.each(TYPES)('the amounts of the invented %s make its state', (type) => {
  const { data } = inventExample(type, '2026-11-21T08:00:00-03:00') as { data: { expected_payment: Order } };
  const { state, amount, paid, refunded, difference, reason_code: reason, matches } = data.expected_payment;
  const [amountCents = 0n, settledCents = 0n, returnedCents = 0n] = [amount, paid, refunded].map(parseSignedAmount);
  expect(parseSignedAmount(difference)).toBe(settledCents - amountCents);
  const matched = matches.reduce((sum, one) => sum + (parseSignedAmount(one.amount) ?? 0n), 0n);
  expect(matched).toBe(settledCents + returnedCents);
  expect(new Set(matches.map((one) => one.transaction_id)).size).toBe(matches.length);
  const facts = { amountCents, isCancelled: state.includes('cancel'), isOver: state !== 'open', lacks: 0 };
  const parts = matches.length - Number(returnedCents > 0n);
  const decided = chooseState(facts, { settledCents, returnedCents, parts });
  expect([type, reason]).toEqual([`pix.expected.${decided}`, nameReason(decided, false)]);
});
