import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import {
  listBookedPlatforms,
  type MoneyQuery,
  readMoneySeries,
  SERIES_DAYS_MAX,
} from '../../../src/ledger/read/read-money-series.ts';
import { readBalances } from '../../../src/seal/read-balances.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const [P, Q] = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'a3bb189e-8bf9-4888-9912-ace4e6543002'];
const env = closeAfterAll(await openEnvironment());
let today: Day;
let days: Day[];

beforeAll(async () => {
  today = env.context.calendar.dayOf(env.context.clock.now());
  days = [5, 4, 3, 2, 1].map((back) => addDays(today, -back));
  const [, d4 = '', d3 = '', d2 = ''] = days;
  await apply(
    pay('1', 'cashin', '100.00', P, [['paid', `${d4} 08:10:00`]], '1.00'),
    pay('2', 'cashin', '50.00', Q, [['paid', `${d4} 08:50:00`]]),
    // refunded the day after
    pay('3', 'cashin', '30.00', P, [
      ['refund', `${d3} 10:00:00`],
      ['paid', `${d4} 23:59:59`],
    ]),
    pay('4', 'cashout', '20.00', P, [['paid', `${d3} 00:00:00`]], '0.50'),
  );
  await sealNow(env.context);
  // no seal contains these
  await apply(
    pay('5', 'cashin', '7.00', P, [['paid', `${d3} 10:30:00`]]),
    pay('6', 'cashout', '3.00', Q, [['in_process', `${d2} 12:00:00`]]),
  );
});

test('a series by day shows what was paid and what was refunded on each, and the balance at its end', async () => {
  const points = await readMoneySeries(env.context, { from: days[0] ?? '', to: today });
  expect(points.map(({ span }) => span)).toEqual([...days, today]);
  expect(points.map(({ sums }) => sums && Object.values(sums))).toEqual([
    // before the first entry
    undefined,
    // receipts, payments, refunds made and received, commissions, net, balance
    [18_000n, 0n, 0n, 0n, 100n, 17_900n, 17_900n],
    [700n, 2_000n, 3_000n, 0n, 50n, -4_350n, 13_550n],
    // held: it is still there
    [0n, 0n, 0n, 0n, 0n, 0n, 13_550n],
    [0n, 0n, 0n, 0n, 0n, 0n, 13_550n],
    [0n, 0n, 0n, 0n, 0n, 0n, 13_550n],
  ]);
  expect(points.map(({ isNow }) => isNow)).toEqual([false, false, false, false, false, true]);
});

test('a series by hour of a day sums to the day, and says nothing of hours to come', async () => {
  const [, d4 = ''] = days;
  const hours = await readMoneySeries(env.context, { day: d4 });
  expect(hours).toHaveLength(24);
  expect(hours[7]).toEqual({ span: `${d4} 07`, isNow: false, sums: undefined });
  expect(hours[8]?.sums).toMatchObject({ receipts: 15_000n, payments: 0n, commissions: 100n, balance: 14_900n });
  expect(hours[23]?.sums).toMatchObject({ receipts: 3_000n, balance: 17_900n });
  const sum = hours.reduce((total, { sums }) => total + (sums?.receipts ?? 0n), 0n);
  expect(sum).toBe(18_000n);
  const now = Number(env.context.calendar.toWallTime(env.context.clock.now()).slice(11, 13));
  const ofToday = await readMoneySeries(env.context, { day: today });
  expect(ofToday.map(({ sums }) => sums !== undefined)).toEqual(ofToday.map((_, hour) => hour <= now));
});

test('each balance is that of the balances at the end of its hour or day, sealed or not', async () => {
  const compare = async (query: MoneyQuery, endOf: (span: string) => string) => {
    for (const { span, sums, isNow } of await readMoneySeries(env.context, query)) {
      if (!sums || isNow) continue;
      const { balances } = await readBalances(env.context.db, endOf(span), 'now', env.context.clock.now());
      const own = balances.filter(
        ({ account }) =>
          /^Assets:Provider:(Available|Held):/.test(account) && (!query.platform || account.endsWith(query.platform)),
      );
      expect([span, sums.balance]).toEqual([span, own.reduce((sum, { cents }) => sum + cents, 0n)]);
    }
  };
  const [first = '', , d3 = ''] = days;
  const nextHour = (span: string): string =>
    span.endsWith('23')
      ? `${addDays(d3, 1)} 00:00:00`
      : `${d3} ${String(Number(span.slice(11)) + 1).padStart(2, '0')}:00:00`;
  for (const platform of [undefined, P]) {
    await compare({ from: first, to: today, platform }, (span) => `${addDays(span, 1)} 00:00:00`);
    await compare({ day: d3, platform }, nextHour);
  }
});

test('a platform has its own series, whichever part of it is sealed', async () => {
  expect(await listBookedPlatforms(env.context)).toEqual([P, Q]);
  const read = async () => [
    ...(await readMoneySeries(env.context, { from: days[0] ?? '', to: today, platform: P })),
    ...(await readMoneySeries(env.context, { from: days[0] ?? '', to: today, platform: Q })),
  ];
  const before = await read();
  expect(before.map(({ sums }) => sums?.receipts)).toEqual([
    undefined,
    13_000n,
    700n,
    0n,
    0n,
    0n,
    undefined,
    5_000n,
    0n,
    0n,
    0n,
    0n,
  ]);
  await sealNow(env.context);
  expect(await read()).toEqual(before);
  expect(await readMoneySeries(env.context, { day: today, platform: 'other' })).toEqual(
    Array.from({ length: 24 }, () => expect.objectContaining({ sums: undefined })),
  );
});

test('a series of too many days, or of none, is refused', async () => {
  const read = (from: Day, to: Day) => readMoneySeries(env.context, { from, to });
  expect(await read(addDays(today, 1 - SERIES_DAYS_MAX), today)).toHaveLength(SERIES_DAYS_MAX);
  await expect(read(addDays(today, -SERIES_DAYS_MAX), today)).rejects.toThrow('more than 92 days');
  await expect(read(today, addDays(today, -1))).rejects.toThrow('from is after to');
});

test('before anything is booked, nothing is known', async () => {
  await using empty = await openEnvironment();
  const points = await readMoneySeries(empty.context, { from: addDays(today, -1), to: today });
  expect(points.map(({ sums }) => sums)).toEqual([undefined, undefined]);
  expect((await sql`SELECT COUNT(*) AS count FROM seals`.execute(empty.context.db)).rows).toEqual([{ count: 0 }]);
});

async function apply(...shown: ShownTransaction[]): Promise<void> {
  await applyObservations(
    env.context,
    shown.map((one) => observe(one, env.context.clock.now())),
  );
}

/** @param events the newest first, after the creation. */
function pay(
  seed: string,
  operation: 'cashin' | 'cashout',
  amount: string,
  platform: string | undefined,
  events: [status: string, at: string][],
  commission?: string,
): ShownTransaction {
  const [status = '', at = ''] = events.at(-1) ?? [];
  const created = { status: 'pending', date_created: at };
  const rest = events.map(([one, date_created]) => ({ status: one, date_created }));
  return {
    id: `00000000-0000-4000-8000-00000000000${seed}`,
    operation,
    status: events[0]?.[0] ?? status,
    amount,
    date_created: at,
    events: [...rest, created],
    ...(platform === undefined ? {} : { platform }),
    ...(commission === undefined ? {} : { commission }),
  };
}
