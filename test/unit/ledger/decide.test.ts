import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { describeFacts } from '../../../src/ledger/decide/correct-transaction.ts';
import { decide } from '../../../src/ledger/decide/decide-observation.ts';
import type { StoredTransaction } from '../../../src/ledger/decide/stored-transaction.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';

type Row = Omit<ShownTransaction, 'events'> & { events?: ShownTransaction['events'] };
const at = (minute: number) => `2026-11-20 10:${String(minute).padStart(2, '0')}:00`;
const asked = (minute: number) => new Date(`2026-11-20T14:${String(minute).padStart(2, '0')}:00Z`);

/** Its events, oldest first, as `status@minute`. */
function row(history: string[], more: Partial<Row> = {}): Row {
  const events = history.map((text) => {
    const [status = '', minute = '0'] = text.split('@');
    return { status, date_created: at(Number(minute)) };
  });
  return {
    id: 'tx',
    operation: 'cashin',
    status: events.at(-1)?.status ?? '',
    amount: '10.00',
    date_created: at(0),
    events: events.toReversed(),
    ...more,
  };
}

/** A row that shows a status and leaves its history out. */
const bare = (status: string): Row => {
  const { events: _, ...rest } = row([`${status}@0`]);
  return rest;
};

function decideRow(before: StoredTransaction | undefined, shown: Row, minute: number) {
  return decide(before, observe({ ...shown, events: shown.events ?? [] }, asked(minute)));
}

function decideAll(...shown: [Row, number][]) {
  let decision: ReturnType<typeof decide> | undefined;
  for (const [one, minute] of shown) decision = decideRow(decision?.after, one, minute);
  if (!decision) throw new Error('no observation');
  return decision;
}

const historyOf = (stored: StoredTransaction) =>
  stored.events.map(({ status, atWall }) => `${status}@${Number(atWall.slice(14, 16))}`);
const kinds = (decision: ReturnType<typeof decide>) => decision.found.map((difference) => difference.kind);

test('the same observation again changes nothing and adds nothing', () => {
  const decision = decideAll([row(['pending@0', 'paid@1']), 1], [row(['pending@0', 'paid@1']), 2]);
  expect(decision).toMatchObject({ isChanged: false, added: [], found: [] });
});

test('a late observation at an earlier state takes nothing away', () => {
  const decision = decideAll([row(['pending@0', 'paid@1']), 2], [row(['pending@0']), 1]);
  expect(decision).toMatchObject({ isChanged: false, added: [] });
  expect(historyOf(decision.after)).toEqual(['pending@0', 'paid@1']);
});

test('events are numbered in the order in which they were learnt, oldest first within one answer', () => {
  const { after } = decideAll(
    [row(['pending@0', 'in_process@2']), 1],
    [row(['pending@0', 'in_analysis@1', 'in_process@2', 'paid@3']), 2],
  );
  expect(after.events.map((event) => `${event.status} ${event.sequence}`)).toEqual([
    'pending 1',
    'in_analysis 3',
    'in_process 2',
    'paid 4',
  ]);
});

describe('facts that must not change', () => {
  const first = row(['pending@0', 'paid@1'], { reference: 'A', extra: 'secret', platform: 'p', commission: '0.50' });
  const later = (more: Partial<Row>) => decideAll([first, 1], [{ ...first, ...more }, 2]);

  test('another amount is reported with both, and the first stays', () => {
    const decision = later({ amount: '10.01' });
    expect(decision.found).toEqual([
      {
        kind: 'amount_differs',
        expected: { amount: '10.00', operation: 'cashin' },
        actual: { amount: '10.01', operation: 'cashin' },
      },
    ]);
    expect(decision.after.amountCents).toBe(1000n);
  });

  test('another operation is an amount that differs', () => {
    expect(later({ operation: 'cashout' })).toMatchObject({
      found: [{ kind: 'amount_differs', actual: { operation: 'cashout' } }],
      after: { operation: 'cashin' },
    });
  });

  test.each(['a', 'Á', 'A '])('another reference is reported even if it is only %j', (reference) => {
    expect(later({ reference })).toMatchObject({
      found: [{ kind: 'reference_differs', expected: { reference: 'A' }, actual: { reference } }],
      after: { reference: 'A' },
    });
  });

  test('another extra is reported by its hash: the text may name a person', () => {
    const hash = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    expect(later({ extra: 'other' }).found).toEqual([
      { kind: 'reference_differs', expected: { extra: hash('secret') }, actual: { extra: hash('other') } },
    ]);
  });

  test('several changed facts are one mismatch of each kind', () => {
    const changed = { amount: '1', reference: 'B', extra: 'o', platform: 'q', commission: '0.51' };
    expect(kinds(later(changed))).toEqual(['amount_differs', 'reference_differs', 'commission_differs']);
  });

  test('absent differs from nothing, and what was absent is filled in once', () => {
    const { reference: _, extra: __, platform: ___, ...unnamed } = first;
    expect(decideAll([first, 1], [unnamed, 2])).toMatchObject({ found: [], isChanged: false });
    expect(decideAll([unnamed, 1], [first, 2])).toMatchObject({
      found: [],
      isChanged: true,
      after: { reference: 'A' },
    });
  });
});

describe('the commission', () => {
  const paid = (commission?: string) => row(['pending@0', 'paid@1'], commission === undefined ? {} : { commission });
  const pending = (commission: string) => row(['pending@0'], { commission });

  test("changed before the payment is the newest observation's, in any order", () => {
    for (const order of [
      [pending('0.10'), 1, pending('0.20'), 2],
      [pending('0.20'), 2, pending('0.10'), 1],
    ] as const) {
      const decision = decideAll([order[0], order[1]], [order[2], order[3]]);
      expect(decision).toMatchObject({ after: { commissionCents: 20n }, found: [] });
    }
  });

  test('changed after the payment is reported, and the first known stays', () => {
    expect(decideAll([paid('0.10'), 1], [paid('0.20'), 2])).toMatchObject({
      after: { commissionCents: 10n },
      found: [{ kind: 'commission_differs', expected: { commission: '0.10' }, actual: { commission: '0.20' } }],
    });
  });

  test('unknown at the payment and known later is no difference', () => {
    expect(decideAll([paid(), 1], [paid('0.20'), 2])).toMatchObject({
      after: { commissionCents: 20n },
      found: [],
      isChanged: true,
    });
  });

  test('of a late observation from before the payment is no difference', () => {
    expect(decideAll([paid('0.20'), 2], [pending('0.10'), 1])).toMatchObject({
      after: { commissionCents: 20n },
      found: [],
    });
  });
});

describe('a history that leaves what was final', () => {
  test.each([
    [['paid@0', 'refund@1']],
    [['pending@0', 'in_process@1', 'in_analysis@2', 'paid@3', 'refund@4']],
    [['pending@0', 'denied@1']],
    [['pending@0', 'paid@1', 'paid@2', 'refund@3']],
    [['pending@0', 'partially_paid@1', 'paid@2']],
  ])('%j does not', (history) => {
    expect(kinds(decideRow(undefined, row(history), 1))).toEqual([]);
  });

  test.each([
    [['paid@0', 'pending@1']],
    [['paid@0', 'denied@1']],
    [['denied@0', 'paid@1']],
    [['paid@0', 'refund@1', 'paid@2']],
    [['expired@0', 'refund@1']],
    [['canceled@0', 'pending@1', 'paid@2']],
    [['pending@0', 'refund@1']],
    [['refund@0']],
  ])('%j does, or refunds an unpaid transaction', (history) => {
    const { found } = decideRow(undefined, row(history), 1);
    const reported = history.map((text) => expect.objectContaining({ status: text.split('@')[0] }));
    expect(found).toEqual([{ kind: 'illegal_transition', expected: null, actual: { history: reported } }]);
  });
});

test('an unknown status is reported as it is, until a known one follows', () => {
  const unknown = decideRow(undefined, row(['pending@0', 'partially_paid@1']), 1);
  expect(unknown).toMatchObject({
    found: [{ kind: 'unknown_status', actual: { status: 'partially_paid' } }],
    resolved: [],
  });
  const known = decideRow(unknown.after, row(['pending@0', 'partially_paid@1', 'paid@2']), 2);
  expect(known).toMatchObject({ found: [], resolved: expect.arrayContaining(['unknown_status']) });
});

describe('where the provider leaves histories out', () => {
  test('statuses stand in lifecycle order, in any order of arrival', () => {
    const orders = [
      ['pending', 'in_process', 'paid', 'refund'],
      ['refund', 'paid', 'in_process', 'pending'],
      ['paid', 'pending', 'refund', 'in_process'],
    ];
    for (const order of orders) {
      const { after, found } = decideAll(...order.map((status, index): [Row, number] => [bare(status), index]));
      expect(after.events.map((event) => event.status)).toEqual(['pending', 'in_process', 'paid', 'refund']);
      expect(after.events.map((event) => event.position)).toEqual([0, 1, 2, 3]);
      expect(found).toEqual([]);
    }
  });

  test('a bare status and the event of that status are one, in either order', () => {
    const reported = row(['pending@0', 'paid@5']);
    expect(decideAll([bare('paid'), 1], [reported, 2]).after.events).toHaveLength(2);
    expect(decideAll([reported, 2], [bare('paid'), 1]).after.events).toHaveLength(2);
    expect(decideAll([reported, 2], [bare('pending'), 1], [reported, 3], [bare('paid'), 4]).isChanged).toBe(false);
  });

  test('a payment inferred at its creation gives way to the real one, and is not added again', () => {
    const reported = row(['pending@1', 'in_process@2', 'paid@5']);
    for (const order of [
      [bare('paid'), reported],
      [reported, bare('paid')],
      [bare('paid'), reported, bare('paid')],
    ]) {
      const { after, found } = decideAll(...order.map((one, index): [Row, number] => [one, index]));
      expect(historyOf(after)).toEqual(['pending@1', 'in_process@2', 'paid@5']);
      expect(found).toEqual([]);
    }
  });

  test('a real event at the very time of an inferred one takes its place', () => {
    const { after } = decideAll([bare('paid'), 1], [row(['pending@0', 'paid@0']), 2]);
    expect(after.events).toMatchObject([
      { status: 'pending', position: 0, inferred: false },
      { status: 'paid', position: 1, inferred: false },
    ]);
    expect(after.outOfForce).toEqual([]);
  });

  test('an inferred refund stands after the payment, in any order of learning, until the real one is known', () => {
    const paid = row(['pending@0', 'paid@3']);
    expect(historyOf(decideAll([bare('refund'), 1], [paid, 2]).after)).toEqual(['pending@0', 'paid@3', 'refund@3']);
    expect(historyOf(decideAll([paid, 1], [bare('refund'), 2]).after)).toEqual(['pending@0', 'paid@3', 'refund@3']);
    const whole = row(['pending@0', 'paid@3', 'refund@9']);
    expect(historyOf(decideAll([bare('refund'), 1], [paid, 2], [whole, 3]).after)).toEqual([
      'pending@0',
      'paid@3',
      'refund@9',
    ]);
  });

  test('an inferred payment moves back to an earlier time where a refund turns out to precede the event that dated it', () => {
    const begun = row(['pending@0', 'in_process@3', 'in_analysis@5']);
    const refunded = row(['pending@0', 'in_process@3', 'refund@4', 'in_analysis@5']);
    const expected = ['pending@0', 'in_process@3', 'paid@3', 'refund@4', 'in_analysis@5'];
    expect(historyOf(decideAll([bare('paid'), 1], [begun, 2], [refunded, 3]).after)).toEqual(expected);
    expect(historyOf(decideAll([refunded, 3], [begun, 2], [bare('paid'), 1]).after)).toEqual(expected);
  });
});

describe('the order of the array', () => {
  test('is the history, regardless of the times', () => {
    const { after, found } = decideAll([row(['pending@0', 'paid@3', 'refund@2']), 1]);
    expect(historyOf(after)).toEqual(['pending@0', 'paid@3', 'refund@2']);
    expect(found).toEqual([]);
  });

  test("is turned round where the row's own status stands at its far end alone", () => {
    const shown = row(['pending@0', 'paid@1']);
    const turned = { ...shown, events: (shown.events ?? []).toReversed() };
    expect(historyOf(decideAll([turned, 1]).after)).toEqual(['pending@0', 'paid@1']);
    const neither = { ...turned, status: 'in_process' };
    expect(historyOf(decideAll([neither, 1]).after)).toEqual(['paid@1', 'pending@0']);
  });

  test('of the newest observation counts, and an event that was inserted later stands in its place', () => {
    const before = row(['pending@0', 'in_process@2']);
    const after = row(['pending@0', 'in_analysis@4', 'in_analysis@5', 'in_process@2', 'paid@6']);
    const whole = ['pending@0', 'in_analysis@4', 'in_analysis@5', 'in_process@2', 'paid@6'];
    expect(historyOf(decideAll([before, 1], [after, 2]).after)).toEqual(whole);
    expect(historyOf(decideAll([after, 2], [before, 1]).after)).toEqual(whole);
  });

  test('of two observations that contradict each other is that of the one asked later', () => {
    const [one, other] = [row(['pending@0', 'refund@1', 'paid@1']), row(['pending@0', 'paid@1', 'refund@1'])];
    expect(historyOf(decideAll([one, 1], [other, 2]).after)).toEqual(['pending@0', 'paid@1', 'refund@1']);
    expect(historyOf(decideAll([other, 2], [one, 1]).after)).toEqual(['pending@0', 'paid@1', 'refund@1']);
  });
});

describe("a row's own status outside the eight", () => {
  const odd = { ...row(['pending@0']), status: 'partially_paid' };

  test('is reported though each event is known, until a row comes without it', () => {
    const reported = decideAll([odd, 1]);
    expect(reported).toMatchObject({
      found: [{ kind: 'unknown_status', actual: { status: 'partially_paid' } }],
      resolved: [],
    });
    expect(decideAll([odd, 1], [row(['pending@0', 'paid@1']), 2])).toMatchObject({
      found: [],
      resolved: expect.arrayContaining(['unknown_status']),
    });
  });

  test('is not reported for an observation older than one with a known status', () => {
    expect(decideAll([row(['pending@0', 'paid@1']), 2], [odd, 1]).found).toEqual([]);
  });
});

test('a correction of a transaction without an event in force is refused, not reported with an empty status', () => {
  const { after } = decideAll([row(['paid@1']), 1]);
  const calendar = createCalendar('America/Sao_Paulo');
  expect(describeFacts(calendar, after)).toMatchObject({ status: 'paid', amount: '10.00' });
  expect(() => describeFacts(calendar, { ...after, events: [] })).toThrow(/tx has no event in force/);
});
