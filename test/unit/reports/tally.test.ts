import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATUSES } from '../../../src/domain/statuses.ts';
import { planEntries } from '../../../src/ledger/journal/plan-entries.ts';
import { classifyMovement } from '../../../src/reports/read/classify-movement.ts';
import { createTally, LINES, sumPlatformTotals } from '../../../src/reports/read/create-tally.ts';
import type { Movement } from '../../../src/reports/read/read-movements.ts';
import { propertyOptions } from '../../support/property.ts';

type Shown = {
  operation: 'cashin' | 'cashout';
  amount: bigint;
  commission: bigint;
  platform: string;
  history: string[];
};

const transaction: fc.Arbitrary<Shown> = fc.record({
  operation: fc.constantFrom('cashin', 'cashout'),
  amount: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  commission: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  platform: fc.constantFrom('a', 'b', 'c'),
  history: fc.array(fc.constantFrom(...STATUSES), { maxLength: 6 }),
});

/** The movements of any history, half of them reversed again. */
function toMovements(shown: Shown, returnsCommission: boolean, reverses: boolean): Movement[] {
  const history = shown.history.map((status, index) => ({
    status,
    atWall: `2026-03-11 0${index}:00:00`,
  }));
  const booked = {
    operation: shown.operation,
    amountCents: shown.amount,
    commissionCents: shown.commission,
    platform: shown.platform,
  };
  const policy = { openingDay: undefined, returnsCommission: () => returnsCommission };
  return planEntries(booked, history, policy).flatMap((entry) => {
    const eventStatus = entry.event?.status ?? null;
    const once = { kind: entry.kind, isReversal: false, eventStatus, postings: entry.postings };
    const back = {
      ...once,
      isReversal: true,
      postings: entry.postings.map(({ account, cents }) => ({ account, cents: -cents })),
    };
    return (reverses ? [once, back] : [once]).map((one) => ({
      ...EMPTY,
      ...classifyMovement(one),
      atWall: entry.atWall,
      platform: entry.platform,
      postings: one.postings,
      isReversal: one.isReversal,
      inForce: !reverses,
    }));
  });
}

const EMPTY = {
  adjustment: null,
  entrySeq: 0,
  eventSeq: null,
  transactionSeq: null,
  transactionId: null,
  status: null,
  createdWall: null,
  reference: null,
  extra: null,
  e2eId: null,
  name: null,
  document: null,
  forgotten: false,
  recordedAt: new Date(0),
  source: 'show',
};

test('opening + movements = closing, for any histories, on each platform and in total', () => {
  fc.assert(
    fc.property(
      fc.array(transaction, { maxLength: 30 }),
      fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
      fc.boolean(),
      fc.boolean(),
      (list, opening, returnsCommission, reverses) => {
        const balances = [{ account: 'Assets:Provider:Available:a', before: opening, opened: 7n, end: 0n }];
        const tally = createTally(balances, undefined);
        const moved = list.flatMap((one) => toMovements(one, returnsCommission, reverses));
        let last = opening + 7n;
        for (const movement of moved) {
          expect(movement.amountCents - movement.commissionCents).toBe(movement.netCents);
          last = tally.add(movement).balanceCents;
        }
        for (const figures of [...tally.platforms.values(), sumPlatformTotals(tally.platforms.values())]) {
          expect(LINES.reduce((sum, line) => sum + figures[line], figures.opening)).toBe(figures.closing);
        }
        const total = sumPlatformTotals(tally.platforms.values());
        expect(total.closing).toBe(last);
        expect(total.closing).toBe(moved.reduce((sum, one) => sum + one.netCents, opening + 7n));
        if (reverses) expect(total.closing).toBe(opening + 7n);
      },
    ),
    propertyOptions(30, 300),
  );
});

test('held is the sum of the cashouts that were set aside and not released', () => {
  fc.assert(
    fc.property(fc.array(transaction, { maxLength: 20 }), (list) => {
      const held = list
        .flatMap((one) => toMovements(one, false, false))
        .reduce((sum, movement) => sum + movement.heldCents, 0n);
      const kinds = list.flatMap((one) => toMovements(one, false, false)).map((movement) => movement.kind);
      expect(held >= 0n).toBe(true);
      expect(kinds.every((kind) => kind !== 'adjustment' && kind !== 'opening')).toBe(true);
    }),
    propertyOptions(30, 300),
  );
});

test('each kind of entry has its accounting kind', () => {
  const kindOf = (kind: string, eventStatus: string | null, postings: [string, bigint][], isReversal = false) =>
    classifyMovement({
      kind,
      isReversal,
      eventStatus,
      postings: postings.map(([account, cents]) => ({ account: `${account}:p`, cents })),
    }).kind;
  const [available, held] = ['Assets:Provider:Available', 'Assets:Provider:Held'];
  expect(
    kindOf('event', 'paid', [
      [available, 95n],
      ['Expenses:Commission:Cashin', 5n],
      ['Liabilities:Receipts', -100n],
    ]),
  ).toBe('receipt');
  expect(
    kindOf('event', 'refund', [
      [available, -100n],
      ['Liabilities:Receipts', 100n],
    ]),
  ).toBe('refund_made');
  expect(
    kindOf('event', 'denied', [
      [available, -100n],
      ['Liabilities:Receipts', 100n],
    ]),
  ).toBe('refund_made');
  expect(
    kindOf('event', 'paid', [
      ['Liabilities:Payables', 100n],
      [held, -100n],
    ]),
  ).toBe('payment');
  expect(
    kindOf('event', 'refund', [
      ['Liabilities:Payables', -100n],
      [available, 100n],
    ]),
  ).toBe('refund_received');
  expect(
    kindOf('event', 'pending', [
      [held, 100n],
      [available, -100n],
    ]),
  ).toBe('hold');
  expect(
    kindOf('event', 'expired', [
      [held, -100n],
      [available, 100n],
    ]),
  ).toBe('release');
  expect(
    kindOf(
      'event',
      'pending',
      [
        [held, -100n],
        [available, 100n],
      ],
      true,
    ),
  ).toBe('hold');
  expect(
    kindOf('commission', 'paid', [
      ['Expenses:Commission:Cashout', 5n],
      [available, -5n],
    ]),
  ).toBe('commission');
  expect(
    kindOf('adjustment', null, [
      [available, 100n],
      ['Assets:Bank', -100n],
    ]),
  ).toBe('adjustment');
  expect(
    kindOf('held_at_opening', null, [
      [held, 100n],
      [available, -100n],
    ]),
  ).toBe('opening');
});
