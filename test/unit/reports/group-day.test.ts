/** Postings added up by day, for any movements. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RenderContext } from '../../../src/reports/render/columns.ts';
import type { Booking } from '../../../src/reports/render/formats/book-movement.ts';
import { groupByDay } from '../../../src/reports/render/formats/group-day.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

const ACCOUNTS = ['Assets:Provider:Available', 'Assets:Provider:Held', 'Liabilities:Receipts', 'Expenses:Fees'];
// of the render context, the words and the names alone are read
const rendering = { texts: textsOf('pt-BR'), platformNames: new Map([['a', 'Loja A']]) } as unknown as RenderContext;

const movement = fc.record({
  day: fc.constantFrom('2026-03-01', '2026-03-02', '2026-03-03'),
  ownDay: fc.constantFrom(undefined, '2026-02-27', '2026-02-28'),
  platform: fc.constantFrom('a', 'b'),
  moves: fc.array(
    fc.record({ from: fc.constantFrom(...ACCOUNTS), to: fc.constantFrom(...ACCOUNTS), cents: fc.bigInt(-500n, 500n) }),
    {
      maxLength: 4,
    },
  ),
});

test('postings added up by day are one a day, platform and account, balance, and come to what the single ones come to', () => {
  fc.assert(
    fc.property(fc.array(movement, { maxLength: 40 }), (given) => {
      const single = given
        .toSorted((one, other) => (one.day < other.day ? -1 : Number(one.day > other.day)))
        .map(({ day, ownDay = day, platform, moves }) => {
          const postings = moves.flatMap(({ from, to, cents }) => [
            { account: `${from}:${platform}`, cents: -cents },
            { account: `${to}:${platform}`, cents },
          ]);
          // of a movement, these alone are read
          return {
            day,
            kind: '',
            movement: { atWall: `${ownDay} 10:00:00`, platform, postings },
          } as unknown as Booking;
        });
      const byDay: Booking[] = [];
      const group = groupByDay(rendering, (one) => byDay.push(one));
      for (const one of single) group.add(one);
      group.end();
      expect(sum(byDay)).toEqual(sum(single));
      for (const { movement: one } of byDay)
        expect(one.postings.reduce((total, { cents }) => total + cents, 0n)).toBe(0n);
      const keys = byDay.map(({ day, kind }) => `${day} ${kind.replace(/\d+$/, '')}`);
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});

function sum(bookings: Booking[]) {
  const sums = new Map<string, bigint>();
  for (const {
    day,
    movement: { atWall, postings },
  } of bookings)
    for (const { account, cents } of postings) {
      const key = `${day} ${atWall} ${account}`;
      sums.set(key, (sums.get(key) ?? 0n) + cents);
    }
  return [...sums].filter(([, cents]) => cents !== 0n).sort(([one], [other]) => (one < other ? -1 : 1));
}
