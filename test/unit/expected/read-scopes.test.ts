import { expect, it } from 'vitest';
import type { LoadedPayment } from '../../../src/expected/follow/read-payments.ts';
import { sees } from '../../../src/expected/follow/read-scopes.ts';
import { completeFilter } from '../../../src/merchants/match-filter.ts';

const facts: LoadedPayment['facts'] = {
  ...{ seq: 1, operation: 'cashin', amountCents: 100n, platform: 'p', reference: 'r-1', e2eId: null },
  ...{ extraHash: 'ab', documentHash: null, day: '2026-11-20', standing: 'settled' },
};
const payment: LoadedPayment = { facts, id: 't', paidWall: null, extra: 'x-1', statuses: ['pending', 'paid'] };

it('a merchant sees a payment of which its filter accepts an event; one beyond the limits accepts none', () => {
  const seesBy = (filter: Parameters<typeof completeFilter>[0]) =>
    sees(new Map([[1, completeFilter(filter)]]), 1, payment);
  expect([{}, { platforms: ['p'] }, { statuses: ['paid'] }, { reference_prefixes: ['r-'] }].map(seesBy)).toEqual(
    Array(4).fill(true),
  );
  expect([{ platforms: ['q'] }, { statuses: ['refund'] }, { extra_prefixes: ['y'] }].map(seesBy)).toEqual(
    Array(3).fill(false),
  );
  expect([sees(new Map([[1, null]]), 1, payment), sees(new Map(), 1, payment), sees(new Map(), null, payment)]).toEqual(
    [false, false, true],
  );
});

it('an erased extra ends no match, and makes none', () => {
  const erased = { ...payment, extra: null };
  const seesErased = (filter: object, wasMatched: boolean) =>
    sees(new Map([[1, completeFilter({ extra_prefixes: ['x'], ...filter })]]), 1, erased, wasMatched);
  expect([seesErased({}, true), seesErased({}, false), seesErased({ platforms: ['q'] }, true)]).toEqual([
    true,
    false,
    false,
  ]);
});
