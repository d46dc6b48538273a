import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { readMoneySeries } from '../../../src/ledger/read/read-money-series.ts';
import { catchUpRefunds } from '../../../src/seal/derive-refunds.ts';
import { sealLedger, sealNow } from '../../../src/seal/seal-ledger.ts';
import { eventually } from '../../support/eventually.ts';
import { applyTransactions, generateTransactions } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';

const DAYS = ['2026-03-09', '2026-03-10', '2026-03-11'];
const [FROM = '', , TO = ''] = DAYS;

/** What was refunded by day, hour and account, from the entries themselves. */
async function sumEntries({ db }: Context): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    SELECT CONCAT_WS(' ', g.grain, LEFT(p.at_wall, g.chars), p.account_seq, SUM(p.amount_cents)) AS line
    FROM entries e JOIN events ev ON ev.seq = e.event_seq JOIN postings p ON p.entry_seq = e.seq
      JOIN accounts a ON a.seq = p.account_seq
      JOIN (SELECT 'day' AS grain, 10 AS chars UNION ALL SELECT 'hour', 13) AS g
    WHERE ev.status <> 'paid' AND (a.name LIKE 'Liabilities:Receipts:%' OR a.name LIKE 'Liabilities:Payables:%')
    GROUP BY g.grain, LEFT(p.at_wall, g.chars), p.account_seq HAVING SUM(p.amount_cents) <> 0`.execute(db);
  return rows.map(({ line }) => line).sort();
}

async function readSums({ db }: Context): Promise<string[]> {
  const rows = await db.selectFrom('refund_spans').selectAll().where('amount_cents', '!=', 0n).execute();
  return rows.map((row) => [row.grain, row.span, row.account_seq, row.amount_cents].join(' ')).sort();
}

const readSeries = async (context: Context) => [
  ...(await readMoneySeries(context, { from: addDays(FROM, -1), to: addDays(TO, 3) })),
  ...(await readMoneySeries(context, { day: addDays(FROM, 1) })),
];

/** As a process of the version before leaves it, which seals and counts no refunds. */
async function forgetAbove({ db }: Context, position: number): Promise<void> {
  await db.deleteFrom('refund_spans').execute();
  await db.updateTable('sealing').set({ refunds_position: position }).execute();
}

test('refunds are counted with each seal, and the series is the same before and after', async () => {
  await using environment = await openEnvironment();
  const { context } = environment;
  const transactions = generateTransactions(120, DAYS, 3);
  await applyTransactions(context, transactions.slice(0, 60));
  await sealNow(context);
  await applyTransactions(context, transactions.slice(60));
  const unsealed = await readSeries(context);
  expect(unsealed.some(({ sums }) => sums && sums.refundsMade > 0n)).toBe(true);
  expect(unsealed.some(({ sums }) => sums && sums.refundsReceived > 0n)).toBe(true);
  await sealNow(context);
  expect(await readSeries(context)).toEqual(unsealed);
  expect(await readSums(context)).toEqual(await sumEntries(context));
});

test('an upgraded database counts the refunds of all earlier seals, and the series is right meanwhile', async () => {
  await using environment = await openEnvironment();
  const { context } = environment;
  for (const seed of [1, 2, 3, 4]) {
    await applyTransactions(context, generateTransactions(40, DAYS, seed));
    await sealNow(context);
  }
  const before = await readSeries(context);
  await forgetAbove(context, 0);
  expect(await readSeries(context)).toEqual(before);
  // the version before seals once more meanwhile
  await applyTransactions(context, generateTransactions(20, DAYS, 5));
  const after = await readSeries(context);
  await sealNow(context);
  expect(await readSums(context)).toEqual([]);
  expect(await readSeries(context)).toEqual(after);
  while (await catchUpRefunds(context));
  expect(await readSums(context)).toEqual(await sumEntries(context));
  expect(await readSeries(context)).toEqual(after);
});

test('an entry that comes late below a counted seal counts once, also where later seals are not counted yet', async () => {
  await using environment = await openEnvironment();
  const { context } = environment;
  const { db } = context;
  await applyTransactions(context, generateTransactions(80, DAYS, 7));
  const refund = await db
    .selectFrom('entries')
    .innerJoin('events', 'events.seq', 'entries.event_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select('entries.seq')
    .where('events.status', '=', 'refund')
    .where('accounts.name', 'like', 'Liabilities:%')
    .orderBy('entries.seq')
    .executeTakeFirstOrThrow();
  const whole = await readSeries(context);
  // not committed yet when the others were sealed
  const { rows } = await sql<Record<string, unknown>>`SELECT * FROM entries WHERE seq = ${refund.seq}`.execute(db);
  const postings = await db.selectFrom('postings').selectAll().where('entry_seq', '=', refund.seq).execute();
  await dropTriggers(db);
  await sql`DELETE FROM entries WHERE seq = ${refund.seq}`.execute(db);
  await sql`DELETE FROM postings WHERE entry_seq = ${refund.seq}`.execute(db);
  await sealNow(context);
  await db
    .insertInto('entries')
    .values(rows[0] as never)
    .execute();
  await db.insertInto('postings').values(postings).execute();
  expect(await readSeries(context)).toEqual(whole);
  const counted = await readSums(context);
  // the version before seals it
  await db.updateTable('sealing').set({ refunds_position: 0 }).execute();
  await db.deleteFrom('refund_spans').execute();
  await sealNow(context, 'far');
  await db.updateTable('sealing').set({ refunds_position: 1 }).execute();
  for (const line of counted) {
    const [grain = '', ...others] = line.split(' ');
    const [cents = '', account = ''] = [others.pop(), others.pop()];
    const row = { grain, span: others.join(' '), account_seq: Number(account), amount_cents: BigInt(cents) };
    await db.insertInto('refund_spans').values(row).execute();
  }
  expect(await readSeries(context)).toEqual(whole);
  while (await catchUpRefunds(context));
  expect(await readSums(context)).toEqual(await sumEntries(context));
  expect(await readSeries(context)).toEqual(whole);
});

test('the loop of the sealer catches up by itself', async () => {
  await using environment = await openEnvironment();
  const { context } = environment;
  await applyTransactions(context, generateTransactions(60, DAYS, 9));
  await sealNow(context);
  const expected = await sumEntries(context);
  await forgetAbove(context, 0);
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  await eventually('the refunds are counted', async () => (await readSums(context)).join() === expected.join());
  stop.abort();
  await loop;
});

test('whichever seals counted their refunds, each counts once', async () => {
  await using environment = await openEnvironment();
  const { context } = environment;
  let seed = 20;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('add', 'seal', 'old', 'catch'), { minLength: 1, maxLength: 6 }),
      async (steps) => {
        for (const step of steps) {
          if (step === 'add') await applyTransactions(context, generateTransactions(8, DAYS, seed++));
          else if (step === 'catch') await catchUpRefunds(context);
          else if (step === 'seal') await sealNow(context);
          else {
            // the version before knows nothing of the position: it only seals
            const before = await context.db.selectFrom('sealing').select('refunds_position').executeTakeFirstOrThrow();
            await context.db.updateTable('sealing').set({ refunds_position: -1 }).execute();
            await sealNow(context);
            await context.db.updateTable('sealing').set(before).execute();
          }
        }
        const series = await readSeries(context);
        await sealNow(context);
        while (await catchUpRefunds(context));
        expect(await readSums(context)).toEqual(await sumEntries(context));
        expect(await readSeries(context)).toEqual(series);
      },
    ),
    { numRuns: 12 },
  );
});
