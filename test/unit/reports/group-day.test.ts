/** Postings added up by day, for any movements. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { append } from '../../../src/domain/lists.ts';
import { NO_PLATFORM } from '../../../src/domain/platform.ts';
import type { RenderContext } from '../../../src/reports/render/columns.ts';
import type { Booking } from '../../../src/reports/render/formats/book-movement.ts';
import { groupByDay } from '../../../src/reports/render/formats/group-day.ts';
import { GENERIC } from '../../../src/reports/render/formats/layouts.ts';
import { nameRefunds } from '../../../src/reports/render/formats/name-refunds.ts';
import { openMapped } from '../../../src/reports/render/formats/open-lancamentos.ts';
import type { FormatWork } from '../../../src/reports/render/formats/output.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const ACCOUNTS = ['Assets:Provider:Available', 'Assets:Provider:Held', 'Liabilities:Receipts', 'Expenses:Fees'];
// of the render context, the words and the names alone are read
const rendering = { texts: textsOf('pt-BR'), platformNames: new Map([['a', 'Loja A']]) } as unknown as RenderContext;

const movement = fc.record({
  day: fc.constantFrom('2026-03-01', '2026-03-02', '2026-03-03'),
  ownDay: fc.constantFrom(undefined, '2026-02-27', '2026-02-28'),
  platform: fc.constantFrom('a', 'b'),
  kind: fc.constantFrom('receipt', 'refund_made'),
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
        .map(({ day, ownDay = day, platform, kind, moves }) => {
          const postings = moves.flatMap(({ from, to, cents }) => [
            { account: `${from}:${platform}`, cents: -cents },
            { account: `${to}:${platform}`, cents },
          ]);
          // of a movement, these alone are read
          return {
            day,
            kind: '',
            movement: { atWall: `${ownDay} 10:00:00`, platform, kind, postings },
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

test('refunds of a day are a posting of their own, so the receipts are those of the pages', () => {
  const byDay: Booking[] = [];
  const group = groupByDay(rendering, (one) => byDay.push(one));
  for (const [kind, cents] of [
    ['receipt', -10_000n],
    ['receipt', -5_000n],
    ['refund_made', 5_000n],
    ['refund_received', -700n],
  ] as const) {
    const account = kind === 'refund_received' ? 'Liabilities:Payables:a' : 'Liabilities:Receipts:a';
    const postings = [
      { account, cents },
      { account: 'Assets:Provider:Available:a', cents: -cents },
    ];
    // of a movement, these alone are read
    const of = nameRefunds({ atWall: '2026-03-01 10:00:00', platform: 'a', kind, postings });
    group.add({ day: '2026-03-01', kind: '', movement: of } as unknown as Booking);
  }
  group.end();
  expect(byDay.map(({ kind, movement: { postings } }) => [kind, postings[0]])).toEqual([
    ['Recebimentos, Loja A; lançamentos somados: 2', { account: 'Liabilities:Receipts:a', cents: -15_000n }],
    ['Devoluções feitas, Loja A; lançamentos somados: 1', { account: 'Liabilities:RefundsMade:a', cents: 5_000n }],
    [
      'Devoluções recebidas, Loja A; lançamentos somados: 1',
      { account: 'Liabilities:RefundsReceived:a', cents: -700n },
    ],
  ]);
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

test('a sum without a platform says so', () => {
  const kinds: string[] = [];
  const group = groupByDay(rendering, ({ kind }) => append(kinds, [kind]));
  const postings = [{ account: `Liabilities:Receipts:${NO_PLATFORM}`, cents: -100n }];
  const of = { atWall: '2026-03-01 10:00:00', platform: NO_PLATFORM, kind: 'receipt', postings };
  // of a movement, these alone are read
  group.add({ day: '2026-03-01', kind: '', movement: of } as unknown as Booking);
  group.end();
  expect(kinds).toEqual(['Recebimentos, sem plataforma; lançamentos somados: 1']);
});

test('a file by day lacks an account of the map also where the day comes to nothing', async () => {
  using home = temporaryDirectory();
  const plan = { group: 'day', days: [{ day: '2026-03-01' }], from: '2026-03-01', to: '2026-03-01', masked: false };
  // of the work of a format, these alone are read
  const work = { rendering, plan, signal: AbortSignal.timeout(10_000) } as unknown as FormatWork;
  const output = await openMapped(work, `${home.path}/by-day.csv`, { layout: GENERIC, accounts: [] });
  for (const cents of [500n, -500n]) {
    const postings = [
      { account: 'Assets:Provider:Held:a', cents },
      { account: 'Liabilities:Payables:a', cents: -cents },
    ];
    const of = { atWall: '2026-03-01 10:00:00', platform: 'a', kind: 'receipt', adjustment: null, postings };
    output.add({ movement: of } as unknown as Parameters<typeof output.add>[0]);
  }
  await expect(output.end()).rejects.toMatchObject({ fields: { accounts: expect.anything() } });
});
