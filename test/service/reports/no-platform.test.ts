import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  PLATFORM_A,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { centsOf, lineOf, type ReadSheet, readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';

const DAY = '2026-03-11';
const at = (time: string): string => `${DAY} ${time}`;
const books = closeAfterAll(await openEnvironment());
let context: Context;

const none = { platform: null };
const paid = transactionOf('cashin', 10_00n, [['paid', at('10:00:00')]], none);
const open = transactionOf('cashin', 20_00n, [['pending', at('11:00:00')]], none);
const held = transactionOf('cashout', 30_00n, [['in_process', at('12:00:00')]], none);
/** No UUID, so no platform of the provider; it shares the accounts of transactions without one. */
const literal = transactionOf('cashin', 40_00n, [['pending', at('13:00:00')]], { platform: 'none' });
const other = transactionOf('cashin', 50_00n, [['pending', at('14:00:00')]], { platform: PLATFORM_A });
const OF_NONE = [open, held, literal].map((one) => one.id);

beforeAll(async () => {
  ({ context } = books);
  await applyTransactions(context, [paid, open, held, literal, other]);
  await transact(context.db, (trx) => raise(trx));
  await makeReport(context, DAY);
});

async function raise(trx: Parameters<typeof raiseMismatches>[0]): Promise<void> {
  const seqs = await trx.selectFrom('transactions').select(['seq', 'id']).execute();
  const found = seqs.map((row) => ({
    kind: 'stuck' as const,
    scope: row.id,
    transactionSeq: row.seq,
    transactionId: row.id,
    amountCents: 1n,
    expected: {},
    actual: {},
  }));
  await raiseMismatches(trx, found, context.clock.now());
}

async function readOf(platform: string | undefined, revision?: number): Promise<ReadSheet[]> {
  const wanted = { day: DAY, format: 'xlsx' as const, ...(revision === undefined ? {} : { revision }) };
  return await readWorkbook(
    (await openReport(context, platform === undefined ? wanted : { ...wanted, platform })).file,
  );
}

const idsOf = (sheet: ReadSheet): string[] =>
  rowsOf(sheet)
    .flatMap((row) => row['Id da transação']?.value ?? [])
    .map(String)
    .sort();

test('each sheet of platform none lists the transactions without a platform', async () => {
  const sheets = await readOf('none');
  expect(idsOf(sheetOf(sheets, 'Pendentes'))).toEqual([...OF_NONE].sort());
  expect(idsOf(sheetOf(sheets, 'Divergências'))).toEqual([paid.id, ...OF_NONE].sort());
  const text = JSON.stringify(sheets);
  expect(text).toContain(paid.id);
  expect(text).not.toContain(other.id);
});

test('the held sum on Pendentes of platform none equals its accounts', async () => {
  const summary = sheetOf(await readOf('none'), 'Resumo');
  const differences = summary.rows.filter((row) => String(row[0]?.value ?? '').startsWith('Diferença'));
  expect(differences.length).toBeGreaterThan(0);
  for (const row of differences) for (const cell of row.slice(1)) expect(centsOf(cell)).toBe(0n);
  expect(centsOf(lineOf(summary, 'Saldo final')?.[0])).toBe(9_50n);
});

test('a report of another platform holds no row of platform none', async () => {
  const text = JSON.stringify(await readOf(PLATFORM_A));
  expect(text).toContain(other.id);
  for (const id of [paid.id, ...OF_NONE]) expect(text).not.toContain(id);
});

test('Alterações of platform none lists the changes without a platform', async () => {
  await applyTransactions(context, [
    withLaterEvents(open, [['paid', at('15:00:00')]]),
    withLaterEvents(literal, [['paid', at('16:00:00')]]),
    withLaterEvents(other, [['paid', at('17:00:00')]]),
  ]);
  const { report } = await makeReport(context, DAY);
  expect(report.revision).toBe(2);
  const changes = idsOf(sheetOf(await readOf('none', 2), 'Alterações'));
  expect(changes).toEqual([open.id, literal.id].sort());
  expect(idsOf(sheetOf(await readOf(PLATFORM_A, 2), 'Alterações'))).toEqual([other.id]);
});

test('an opening of platform none reposts its transactions, and the books are consistent', async () => {
  await openLedger(context, { platform: 'none', day: '2026-03-12', balanceCents: 77n, actor: 'test' });
  const rows = await context.db
    .selectFrom('entries')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'entries.seq')
    .select(['entries.platform', 'entries.at_wall'])
    .where('entries.kind', '=', 'event')
    .where('reversal.seq', 'is', null)
    .execute();
  expect(rows.map((row) => row.platform)).toEqual([PLATFORM_A]);
  await sealNow(context);
  expect(await checkBooks(context)).toMatchObject({ broken: 0 });
});
