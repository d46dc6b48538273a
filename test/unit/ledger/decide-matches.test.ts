import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import {
  decideMatches,
  listAdjustmentNames,
  listCandidates,
  listCashoutNames,
  listLineNames,
  type OpenEntry,
  type OpenLine,
  pairOf,
} from '../../../src/ledger/bank/decide-matches.ts';
import { propertyOptions } from '../../support/property.ts';

const DAY = '2026-10-15';
const E2E = 'E18236120202610151530s1234abcd00';

function line(seq: number, more: { day?: string; cents?: bigint; number?: string; memo?: string } = {}): OpenLine {
  const { day = DAY, cents = 500n, number = '', memo = 'TED RECEBIDA' } = more;
  return { seq, account: '341/1', text: memo, day, cents, ...listLineNames([number], [memo]) };
}
function adjustment(
  seq: number,
  more: { day?: string; cents?: bigint; note?: string; account?: string } = {},
): OpenEntry {
  const { day = DAY, cents = 500n, note = 'retirada', account = null } = more;
  return { seq, kind: 'adjustment', account, day, cents, names: listAdjustmentNames(`adj_${'f'.repeat(32)}`, note) };
}
function cashout(seq: number, more: { day?: string; e2e?: string; reference?: string } = {}): OpenEntry {
  const names = listCashoutNames('0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01', more.e2e ?? E2E, more.reference ?? null);
  return { seq, kind: 'cashout', account: null, day: more.day ?? DAY, cents: 500n, names };
}
const pairs = (lines: OpenLine[], entries: OpenEntry[], undone?: Set<string>) =>
  decideMatches(lines, entries, undone).map(({ lineSeq, entrySeq, rule }) => `${lineSeq}-${entrySeq} ${rule}`);

describe('a line is matched', () => {
  it('with the only adjustment of its amount, up to two days apart', () => {
    for (const apart of [-2, 0, 2]) {
      expect(pairs([line(1)], [adjustment(7, { day: addDays(DAY, apart) })]), `${apart}`).toEqual(['1-7 amount']);
    }
    for (const apart of [-3, 3]) expect(pairs([line(1)], [adjustment(7, { day: addDays(DAY, apart) })])).toEqual([]);
    expect(pairs([line(1)], [adjustment(7, { account: '341/1' }), adjustment(8, { account: '341/2' })])).toEqual([
      '1-7 amount',
    ]);
    expect(pairs([line(1)], [adjustment(7, { cents: -500n }), adjustment(8, { cents: 501n })])).toEqual([]);
  });

  it('not where it or the adjustment has two candidates: nothing is guessed, on any days', () => {
    expect(pairs([line(1)], [adjustment(7), adjustment(8, { day: addDays(DAY, 2) })])).toEqual([]);
    expect(pairs([line(1), line(2, { day: addDays(DAY, -2) })], [adjustment(7)])).toEqual([]);
    expect(pairs([line(1), line(2)], [adjustment(7), adjustment(8)])).toEqual([]);
  });

  it('by a code of letters and digits in both texts, but not by a shorter word or by digits that may be a date', () => {
    const rule = (code: string) =>
      pairs([line(1, { memo: `SAQUE ${code}` })], [adjustment(7, { note: `saque ${code}` })]);
    expect(rule('SQ202611181')).toEqual(['1-7 reference']);
    for (const code of ['SQ1118', '202610150001', '15/10/2026']) expect(rule(code), code).toEqual(['1-7 amount']);
  });

  it("by the bank's number in the note, where amount and day leave two", () => {
    const two = [adjustment(7, { note: 'TED 0045106' }), adjustment(8, { note: 'TED 45107' })];
    expect(pairs([line(1, { number: '00045106' })], two)).toEqual(['1-7 reference']);
    const lines = [line(1, { number: '45106' }), line(2, { number: '45107' })];
    expect(pairs(lines, two).sort()).toEqual(['1-7 reference', '2-8 reference']);
    // the reference leaves one: the rest is decided by amount
    expect(pairs([line(1, { number: '45106' }), line(2)], two).sort()).toEqual(['1-7 reference', '2-8 amount']);
  });

  it('not by a number that two lines or two notes have, nor by amount instead', () => {
    expect(
      pairs([line(1, { number: '45106' }), line(2, { number: '45106' })], [adjustment(7, { note: '45106' })]),
    ).toEqual([]);
    const two = [adjustment(7, { note: '45106' }), adjustment(8, { note: '45106' })];
    expect(pairs([line(1, { number: '45106' })], two)).toEqual([]);
  });

  it('not by a year, a day, an amount or an account in a note and a text', () => {
    const memo = 'TED 2026 15.10.2026 500,00 AG 1234 CC 56789-0';
    const two = [adjustment(7, { note: memo }), adjustment(8)];
    expect(pairs([line(1, { memo, number: '2026' })], two)).toEqual([]);
  });

  it('with a cashout only if it names it, in any case, by end-to-end id, id or reference', () => {
    expect(pairs([line(1)], [cashout(9)])).toEqual([]);
    for (const memo of [`PIX ${E2E}`, `PIX ${E2E.toUpperCase()}.`, 'Pix 0F0E7B8E-5a55-4b3c-9a51-1b5d7b3d1a01'])
      expect(pairs([line(1, { memo })], [cashout(9)]), memo).toEqual(['1-9 reference']);
    expect(pairs([line(1, { memo: 'PIX retirada-88' })], [cashout(9, { reference: 'retirada-88' })])).toEqual([
      '1-9 reference',
    ]);
    expect(pairs([line(1, { memo: 'PIX retirada-881' })], [cashout(9, { reference: 'retirada-88' })])).toEqual([]);
    expect(pairs([line(1, { memo: `PIX ${E2E}` })], [cashout(9, { day: addDays(DAY, -3) })])).toEqual([]);
    // the name decides between it and an adjustment of the same amount
    expect(pairs([line(1, { memo: `PIX ${E2E}` })], [cashout(9), adjustment(7)])).toEqual(['1-9 reference']);
  });

  it('never with an entry that a person parted from it, nor with another by elimination', () => {
    const undone = new Set([pairOf(1, 7)]);
    expect(pairs([line(1)], [adjustment(7)], undone)).toEqual([]);
    expect(pairs([line(1)], [adjustment(7), adjustment(8)], undone)).toEqual([]);
    expect(pairs([line(1), line(2)], [adjustment(7)], undone)).toEqual([]);
    // a name of its own is no elimination
    const named = adjustment(8, { note: '45106' });
    expect(pairs([line(1, { number: '45106' })], [adjustment(7), named], undone)).toEqual(['1-8 reference']);
    const both = [adjustment(7, { note: '45106' }), named];
    expect(pairs([line(1, { number: '45106' })], both, undone)).toEqual([]);
  });
});

describe('the rules', () => {
  const anyLine = fc.record({
    at: fc.nat(6),
    cents: fc.constantFrom(500n, 700n),
    number: fc.constantFrom('', '45106', '45107'),
  });
  const anyEntry = fc.record({
    at: fc.nat(6),
    cents: fc.constantFrom(500n, 700n),
    note: fc.constantFrom('', '45106', '45107'),
  });
  const make = (given: {
    lines: { at: number; cents: bigint; number: string }[];
    entries: { at: number; cents: bigint; note: string }[];
  }) => ({
    lines: given.lines.map(({ at, ...one }, index) => line(index + 1, { ...one, day: addDays(DAY, at) })),
    entries: given.entries.map(({ at, ...one }, index) => adjustment(index + 101, { ...one, day: addDays(DAY, at) })),
  });
  const both = fc.record({ lines: fc.array(anyLine, { maxLength: 6 }), entries: fc.array(anyEntry, { maxLength: 6 }) });

  it('match each line and each entry at most once, with a candidate, in any order of both', () => {
    fc.assert(
      fc.property(both, fc.infiniteStream(fc.nat()), (given, random) => {
        const { lines, entries } = make(given);
        const made = pairs(lines, entries).sort();
        const shuffle = <T>(list: T[]): T[] =>
          list
            .map((one) => ({ one, key: random.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one);
        expect(pairs(shuffle(lines), shuffle(entries)).sort()).toEqual(made);
        const decided = decideMatches(lines, entries);
        expect(new Set(decided.map(({ lineSeq }) => lineSeq)).size).toBe(decided.length);
        expect(new Set(decided.map(({ entrySeq }) => entrySeq)).size).toBe(decided.length);
        for (const { lineSeq, entrySeq } of decided) {
          const own = lines.find(({ seq }) => seq === lineSeq);
          expect(own && listCandidates(own, entries).map(({ entry }) => entry.seq)).toContain(entrySeq);
        }
      }),
      propertyOptions(200, 20_000),
    );
  });

  it('match by amount only what a search over all pairs leaves no choice for', () => {
    fc.assert(
      fc.property(both, (given) => {
        const { lines, entries } = make(given);
        const decided = decideMatches(lines, entries);
        const taken = new Set(
          decided.filter(({ rule }) => rule === 'reference').flatMap(({ lineSeq, entrySeq }) => [lineSeq, entrySeq]),
        );
        const isPair = (own: OpenLine, entry: OpenEntry): boolean =>
          own.cents === entry.cents && addDays(own.day, -2) <= entry.day && entry.day <= addDays(own.day, 2);
        for (const { lineSeq, entrySeq } of decided.filter(({ rule }) => rule === 'amount')) {
          const rivals = lines.flatMap((own) =>
            entries
              .filter((entry) => isPair(own, entry) && (own.seq === lineSeq || entry.seq === entrySeq))
              .map((entry) => [own.seq, entry.seq]),
          );
          expect(rivals.filter((pair) => !pair.some((seq) => taken.has(seq)))).toEqual([[lineSeq, entrySeq]]);
        }
      }),
      propertyOptions(200, 20_000),
    );
  });
});
