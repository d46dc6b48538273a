import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capParts } from '../../../src/callbacks/render/cap-parts.ts';
import { addDays, createCalendar } from '../../../src/domain/calendar.ts';
import { type Decided, decideMatches, type Pair, pairOf } from '../../../src/expected/decide/decide-matches.ts';
import { decideState } from '../../../src/expected/decide/decide-state.ts';
import type { ExpectedFacts, PaymentFacts } from '../../../src/expected/decide/facts.ts';
import { findLacks, sumDays } from '../../../src/expected/follow/find-lacks.ts';
import { isInvoiceKey } from '../../../src/expected/invoice-key.ts';
import { propertyOptions } from '../../support/property.ts';
import {
  matchByContract,
  type ReferenceExpected,
  type ReferencePairs,
  type ReferencePayment,
  stateByContract,
} from '../../support/reference-expected.ts';

const BEGIN = '2026-01-01';
const few = <T>(...values: T[]) => fc.constantFrom(null, null, ...values);
const anyExpected = fc.record({
  source: fc.constantFrom('shop', 'shop', 'nfe'),
  operation: fc.constantFrom('cashin', 'cashin', 'cashin', 'cashout'),
  amount: fc.constantFrom(1000, 1000, 700),
  platform: few('p', 'q'),
  references: fc.subarray(['r', 's', 't']),
  e2eIds: fc.subarray(['E1', 'E2'], { maxLength: 1 }),
  authorizations: fc.subarray(['E1', 's'], { maxLength: 1 }),
  extra: few('x', 'y'),
  document: few('1', '2'),
  issued: fc.nat(30),
  due: fc.nat(30),
  cancelled: fc.constantFrom(false, false, false, true),
});
const anyPayment = fc.record({
  operation: fc.constantFrom('cashin', 'cashin', 'cashin', 'cashout'),
  amount: fc.constantFrom(1000, 1000, 700),
  platform: few('p', 'q'),
  reference: few('r', 's'),
  e2eId: few('E1'),
  extra: few('x', 'y'),
  document: few('1', '2'),
  day: fc.nat(70),
  state: fc.constantFrom('settled', 'settled', 'settled', 'returned', 'pending', 'none'),
});
const anyFacts = fc
  .record({
    expected: fc.array(anyExpected, { maxLength: 6 }),
    payments: fc.array(anyPayment, { maxLength: 6 }),
    byPerson: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 2 }),
    undone: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 3 }),
  })
  .map(({ expected, payments, byPerson, undone }) => {
    const real = (pairs: [number, number][]): ReferencePairs =>
      pairs
        .filter(([e, p]) => e < expected.length && p < payments.length)
        .map(([e, p]) => [e + 1, p + 101] as [number, number]);
    return {
      expected: expected.map((e, index) => ({ ...e, due: e.issued + e.due, seq: index + 1 })) as ReferenceExpected[],
      payments: payments.map((p, index) => ({ ...p, seq: index + 101 })) as ReferencePayment[],
      byPerson: real(byPerson),
      undone: real(undone),
    };
  });
type Case = typeof anyFacts extends fc.Arbitrary<infer T> ? T : never;

function toFacts({ expected, payments, byPerson, undone }: Case) {
  const toPair = ([expectedSeq, paymentSeq]: ReferencePairs[number]): Pair => ({ expectedSeq, paymentSeq });
  return {
    expected: expected.map(
      (e): ExpectedFacts => ({
        ...{ seq: e.seq, source: e.source, operation: e.operation as 'cashin', amountCents: BigInt(e.amount) },
        platform: e.platform,
        keys: { reference: new Set(e.references), e2e_id: new Set(e.e2eIds), invoice: new Set(e.authorizations) },
        ...{ extraHash: e.extra, documentHash: e.document, isCancelled: e.cancelled },
        ...{ issuedDay: addDays(BEGIN, e.issued), dueDay: addDays(BEGIN, e.due) },
      }),
    ),
    payments: payments.map(
      (p): PaymentFacts => ({
        ...{ seq: p.seq, operation: p.operation as 'cashin', amountCents: BigInt(p.amount), platform: p.platform },
        ...{ reference: p.reference, e2eId: p.e2eId, extraHash: p.extra, documentHash: p.document },
        ...{ day: addDays(BEGIN, p.day), standing: p.state },
      }),
    ),
    byPerson: byPerson.map(toPair),
    undone: new Set(undone.map(toPair).map(pairOf)),
    sees: (_pair: Pair) => true,
  };
}

const show = ({ matches }: Decided) =>
  matches.map(({ expectedSeq, paymentSeq, rule }) => `${expectedSeq}-${paymentSeq} ${rule}`).sort();

const strengthOf = (rule: string): number => ['extra', 'document'].indexOf(rule);

const order = { source: 'shop', operation: 'cashin', amount: 1000, platform: null, authorizations: [], e2eIds: [] };
const plain = { ...order, references: [], extra: null, document: null, issued: 0, due: 5, cancelled: false };
const paid = { operation: 'cashin', amount: 1000, platform: null, e2eId: null, day: 1, state: 'settled' as const };
const unlike = { reference: null, extra: null, document: null };

describe('the decision', () => {
  it('keeps the orders that a payment names as its candidates, where a rule after gives it to another order', () => {
    const decided = decideMatches(
      toFacts({
        expected: [
          { ...plain, seq: 1, references: ['r'] },
          { ...plain, seq: 2, references: ['r'], extra: 'x' },
          { ...plain, seq: 3, document: '1' },
          { ...plain, seq: 4, extra: 'x' },
        ],
        payments: [{ ...paid, seq: 101, reference: 'r', extra: 'x', document: '1' }],
        byPerson: [],
        undone: [],
      }),
    );
    expect(show(decided)).toEqual(['3-101 document']);
    expect(decided.candidates).toEqual([
      { expectedSeq: 1, paymentSeq: 101, rule: 'reference', reason: 'not_unique' },
      { expectedSeq: 2, paymentSeq: 101, rule: 'reference', reason: 'not_unique' },
      { expectedSeq: 4, paymentSeq: 101, rule: 'extra', reason: 'not_unique' },
    ]);
  });

  it('keeps the orders and the payments of one extra as candidates on both sides, where a rule after pays one of the orders otherwise', () => {
    const decided = decideMatches(
      toFacts({
        expected: [
          { ...plain, seq: 1, extra: 'x' },
          { ...plain, seq: 2, extra: 'x', document: '1' },
        ],
        payments: [
          { ...paid, ...unlike, seq: 101, extra: 'x' },
          { ...paid, ...unlike, seq: 102, document: '1' },
        ],
        ...{ byPerson: [], undone: [] },
      }),
    );
    expect(show(decided)).toEqual(['2-102 document']);
    expect(decided.candidates).toEqual([
      { expectedSeq: 1, paymentSeq: 101, rule: 'extra', reason: 'not_unique' },
      { expectedSeq: 2, paymentSeq: 101, rule: 'extra', reason: 'not_unique' },
    ]);
  });

  it('keeps a pair that a person undid as a candidate, where a rule after gives the payment to another order', () => {
    const decided = decideMatches(
      toFacts({
        expected: [
          { ...plain, seq: 1, references: ['r'] },
          { ...plain, seq: 2, document: '1' },
        ],
        payments: [{ ...paid, ...unlike, seq: 101, reference: 'r', document: '1' }],
        ...{ byPerson: [], undone: [[1, 101]] },
      }),
    );
    expect(show(decided)).toEqual(['2-101 document']);
    expect(decided.candidates).toEqual([{ expectedSeq: 1, paymentSeq: 101, rule: 'reference', reason: 'undone' }]);
  });

  it('is that of the contract, read literally', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        expect(show(decideMatches(toFacts(given)))).toEqual(matchByContract(given.expected, given.payments, given));
      }),
      propertyOptions(1_000, 100_000),
    );
  });

  it('is as without it for all others, where an expected payment sees no payment', () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(5), (given, blind) => {
        const facts = toFacts({ ...given, byPerson: given.byPerson.filter(([e]) => e !== blind) });
        const expected = facts.expected.filter(({ seq }) => seq !== blind);
        expect(decideMatches({ ...facts, sees: ({ expectedSeq }) => expectedSeq !== blind })).toEqual(
          decideMatches({ ...facts, expected }),
        );
      }),
      propertyOptions(300, 30_000),
    );
  });

  it('is the same in any order, matches each payment once, and shows candidates of what no rule as strong has decided', () => {
    fc.assert(
      fc.property(anyFacts, fc.infiniteStream(fc.nat()), (given, random) => {
        const shuffle = <T>(list: T[]): T[] =>
          list
            .map((one) => ({ one, key: random.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one);
        const facts = toFacts(given);
        const decided = decideMatches(facts);
        const again = decideMatches({
          ...facts,
          expected: shuffle(facts.expected),
          payments: shuffle(facts.payments),
          byPerson: shuffle(facts.byPerson),
        });
        expect(show(again)).toEqual(show(decided));
        const candidates = (of: Decided) =>
          of.candidates.map((one) => `${pairOf(one)} ${one.rule} ${one.reason}`).sort();
        expect(candidates(again)).toEqual(candidates(decided));
        const matched = decided.matches.map(({ paymentSeq }) => paymentSeq);
        expect(new Set(matched).size).toBe(matched.length);
        const byPerson = new Set(facts.byPerson.map(({ paymentSeq }) => paymentSeq));
        for (const one of decided.candidates) {
          expect(byPerson).not.toContain(one.paymentSeq);
          const isLater = ({ rule }: { rule: string }) => strengthOf(one.rule) < strengthOf(rule);
          const taken = decided.matches.find(({ paymentSeq }) => paymentSeq === one.paymentSeq);
          expect([one, taken === undefined || isLater(taken)]).toEqual([one, true]);
          expect(taken?.expectedSeq).not.toBe(one.expectedSeq);
          const own = decided.matches.filter(({ expectedSeq }) => expectedSeq === one.expectedSeq);
          if (strengthOf(one.rule) >= 0) expect([one, own.every(isLater)]).toEqual([one, true]);
        }
        expect(decided.matches.filter((one) => facts.undone.has(pairOf(one)))).toEqual([]);
      }),
      propertyOptions(300, 30_000),
    );
  });

  it('never matches more once a person undoes a pair', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const facts = { ...toFacts(given), undone: new Set<string>() };
        const before = decideMatches(facts);
        // of rules 3 and 4: what rule 2 leaves may be another's by the rules after it
        const [parted] = before.matches.filter(({ rule }) => rule === 'document');
        if (!parted) return;
        const after = decideMatches({ ...facts, undone: new Set([pairOf(parted)]) });
        expect(show(after)).toEqual(
          show(before).filter((one) => one !== show({ matches: [parted], candidates: [] })[0]),
        );
        const [own] = after.candidates.filter((one) => pairOf(one) === pairOf(parted));
        expect(own?.reason).toBe('undone');
      }),
      propertyOptions(300, 30_000),
    );
  });

  it('finds the state by the first line of the table that fits', () => {
    const anyPart = fc.record({
      amount: fc.constantFrom(1, 300, 500, 1000, 2000),
      state: fc.constantFrom('settled' as const, 'settled' as const, 'returned' as const, 'none' as const),
    });
    const anyCase = fc.record({
      ...{
        cancelled: fc.boolean(),
        over: fc.boolean(),
        proven: fc.boolean(),
        parts: fc.array(anyPart, { maxLength: 4 }),
      },
      amount: fc.constantFrom(500, 1000),
    });
    fc.assert(
      fc.property(anyCase, ({ parts, ...given }) => {
        const decided = decideState({
          ...{ amountCents: BigInt(given.amount), isCancelled: given.cancelled, isOver: given.over },
          ...{ lacks: given.proven ? 0 : 3, hasCandidates: false },
          parts: parts.map(({ amount, state }) => ({ amountCents: BigInt(amount), standing: state, day: BEGIN })),
        });
        expect(decided.state).toBe(stateByContract(given, parts));
        expect(decided.reasonCode === null).toBe(['open', 'paid'].includes(decided.state));
      }),
      propertyOptions(500, 50_000),
    );
  });
});

it('parts of a payment that was lowered are cut, the last one first', () => {
  const part = (transaction: number, number: number, cents: bigint) => ({
    ...{ transaction_seq: transaction, part: number, amount_cents: cents },
  });
  const parts = [part(1, 3, 300n), part(1, 1, 300n), part(2, 1, 100n), part(1, 2, 500n)];
  const cut = (cents: bigint) => capParts(parts, (seq) => (seq === 1 ? cents : 100n));
  expect(cut(1_100n)).toHaveLength(4);
  expect(cut(700n)).toEqual([part(1, 1, 300n), part(2, 1, 100n), part(1, 2, 400n)]);
  expect(cut(300n)).toEqual([part(1, 1, 300n), part(2, 1, 100n)]);
});

it('the key of an invoice is read with its check digit, with letters in the CNPJ too', () => {
  expect(isInvoiceKey('35080599999090910270550010000000015180051273')).toBe(true);
  expect(isInvoiceKey('35080599999090910270550010000000015180051274')).toBe(false);
  expect(isInvoiceKey('3508059999909091027055001000000001518005127')).toBe(false);
  const letters = '3508051A2B3C4D5E6F91550010000000015180051270';
  expect([...'0123456789'].filter((digit) => isInvoiceKey(letters.slice(0, -1) + digit))).toHaveLength(1);
});

it('days of long ago are counted, not listed: the follower and each page would stop for them', () => {
  const calendar = createCalendar('America/Sao_Paulo');
  const ended = Array.from({ length: 1_000 }, () =>
    findLacks(calendar, { issuedDay: '1900-01-01', endDay: '2026-11-01' }, []),
  );
  expect(ended.reduce((sum, lacks) => sum + sumDays(lacks), 0)).toBe(46_326_000);
});
