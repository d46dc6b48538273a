import { expect, test } from 'vitest';
import { addDays, listDays } from '../../../src/domain/calendar.ts';
import type { ObservedTransaction } from '../../../src/domain/observation.ts';
import { makeReport } from '../../../src/reports/make-report.ts';
import { openReport } from '../../../src/reports/open-report.ts';
import { inventTransactions, learn, openBooks } from './books.ts';
import { centsOf, lineOf, readWorkbook, sheetOf } from './read-workbook.ts';

const FIRST = '2026-03-01';
const DAYS = listDays(FIRST, addDays(FIRST, 29));

/** What a transaction moves the balance by, and when, straight from the provider's history. */
function movesOf({ operation, amountCents, commissionCents, events }: ObservedTransaction) {
  const sign = operation === 'cashin' ? 1n : -1n;
  return events.flatMap(({ status, atWall }) => {
    const day = atWall.slice(0, 10);
    if (status === 'paid') return [{ day, cents: sign * amountCents - (commissionCents ?? 0n) }];
    return status === 'refund' ? [{ day, cents: -sign * amountCents }] : [];
  });
}

test("a month's reports follow the provider's own books day by day, and each opens where the last one closed", async () => {
  await using books = await openBooks();
  const { context } = books;
  const transactions = inventTransactions(1_500, DAYS, 31);
  // learnt in an order that is not that of their days
  await learn(context, [...transactions].reverse());
  const moves = transactions.flatMap(movesOf);
  let expected = 0n;
  for (const day of DAYS) {
    await makeReport(context, day);
    const { file } = await openReport(context, { day, format: 'xlsx' });
    const summary = sheetOf(await readWorkbook(file), 'Resumo');
    const total = (label: string): bigint => centsOf(lineOf(summary, label)?.filter(Boolean).at(-1));
    expect([day, total('Saldo inicial')]).toEqual([day, expected]);
    expected += moves.filter((move) => move.day === day).reduce((sum, move) => sum + move.cents, 0n);
    expect([day, total('Saldo final')]).toEqual([day, expected]);
  }
  expect(expected).not.toBe(0n);
}, 180_000);
