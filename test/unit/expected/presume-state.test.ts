import { expect, test } from 'vitest';
import type { ExpectedState } from '../../../src/expected/decide/decide-state.ts';
import { presumeState } from '../../../src/expected/read/presume-state.ts';

const order = (state: ExpectedState, amount_cents: bigint, settled_cents: bigint, more: object = {}) => ({
  ...{ state, amount_cents, settled_cents, returned_cents: 0n, parts_settled: 2, is_cancelled: 0, shares_key: 0 },
  ...{ reason_code: null, first_lack: null, last_lack: null, paid_day: '2026-11-01', ...more },
});
const presume = (row: ReturnType<typeof order>) => {
  const { state, paid_day } = presumeState(row, [{ rule: 'reference' }], false);
  return [state, paid_day];
};

test('a decided order keeps its paid day', () => {
  expect(presumeState(order('overpaid', 5n, 10n), [], true).paid_day).toBe('2026-11-01');
});

test('an order that has just changed has no paid day of the amount before', () => {
  expect(presume(order('paid', 10n, 10n))).toEqual(['paid', '2026-11-01']);
  // two parts of 5: the first one reached 5, the second one reaches 10
  expect(presume(order('overpaid', 10n, 10n))).toEqual(['paid', null]);
  expect(presume(order('overpaid', 8n, 10n))).toEqual(['overpaid', null]);
  expect(presume(order('paid_twice', 4n, 10n))).toEqual(['paid_twice', null]);
  expect(presume(order('paid', 11n, 10n))).toEqual(['underpaid', null]);
});

test('a cancelled order that has just changed has no paid day, nor one that was just reopened', () => {
  expect(presume(order('paid', 10n, 10n, { is_cancelled: 1, shares_key: 1 }))).toEqual(['cancelled', null]);
  expect(presume(order('paid', 10n, 10n, { is_cancelled: 1 }))).toEqual(['paid_after_cancel', null]);
  expect(presume(order('paid_after_cancel', 10n, 10n))).toEqual(['paid', null]);
});
