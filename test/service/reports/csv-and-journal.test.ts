import { readFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { exportRange } from '../../../src/reports/serve/export-range.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger, stateBalance } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { centsOf, lineOf, readWorkbook, rowsOf, runHledger, sheetOf } from './read-workbook.ts';

const DAY = '2026-03-11';
const books = closeAfterAll(await openEnvironment());
const odd = transactionOf('cashin', 12_345_678n, [['paid', '2026-03-11 15:00:00']], {
  reference: '=1+1;"x"',
  name: 'José\r\nda Silva',
  platform: 'loja ção; |x',
});

beforeAll(async () => {
  await applyTransactions(books.context, [...generateTransactions(200, ['2026-03-09', '2026-03-10', DAY], 13), odd]);
  const held = transactionOf('cashout', 4_000n, [['pending', '2026-03-10 20:00:00']]);
  await applyTransactions(books.context, [held]);
  await applyTransactions(books.context, [
    withLaterEvents(held, [['paid', '2026-03-11 08:00:00']], { amountCents: 4_000n }),
  ]);
  await makeReport(books.context, DAY);
});

test('the CSV has the bytes of the contract, and its net adds up to what the day moved', async () => {
  const { file } = await openReport(books.context, { day: DAY, format: 'csv' });
  const bytes = readFileSync(file);
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const text = bytes.toString('utf8').slice(1);
  expect(text.endsWith('\r\n')).toBe(true);
  expect(text.replaceAll('\r\n', '').includes('\n')).toBe(false);
  const rows = parse(text);
  const head = rows[0] ?? [];
  const net = head.indexOf('Líquido');
  const moved = rows.slice(1).reduce((sum, row) => sum + BigInt((row[net] ?? '').replace(',', '')), 0n);
  const summary = sheetOf(
    await readWorkbook((await openReport(books.context, { day: DAY, format: 'xlsx' })).file),
    'Resumo',
  );
  const total = (label: string): bigint => centsOf(lineOf(summary, label)?.filter(Boolean).at(-1));
  expect(moved).toBe(total('Saldo final') - total('Saldo inicial'));
  const row = rows.find((one) => one.includes(odd.id));
  expect(row?.[head.indexOf('Referência')]).toBe(`'=1+1;"x"`);
  expect(row?.[head.indexOf('Valor')]).toBe('123456,78');
  expect(row?.[0]).toBe('11/03/2026 15:00:00');
});

test('hledger accepts the journal of a day, and its balances are those of Resumo', async () => {
  const { file } = await openReport(books.context, { day: DAY, format: 'journal' });
  await runHledger(['-f', file, 'check', '--strict', 'ordereddates']);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^commodity 1000\.00 BRL$/m);
  expect(text).toMatch(/opening balances/);
  for (const personal of ['José', 'Maria', '12345678909', odd.reference ?? '']) expect(text).not.toContain(personal);
  const balances = await runHledger(['-f', file, 'bal', '-N', '--depth', '2', '-O', 'csv', 'Assets:Provider']);
  const summary = sheetOf(
    await readWorkbook((await openReport(books.context, { day: DAY, format: 'xlsx' })).file),
    'Resumo',
  );
  const closing = centsOf(lineOf(summary, 'Saldo final')?.filter(Boolean).at(-1));
  expect(BigInt(/"(-?[\d.]+) BRL"/.exec(balances)?.[1]?.replace('.', '') ?? '0')).toBe(closing);
});

test('a range of days is one journal, its balances asserted at the end of each', async () => {
  const file = path.join(books.dataDir, 'range.journal');
  const range = { from: '2026-03-09', to: DAY };
  await exportRange(books.context, { ...range, format: 'journal' }, (made) => copyFile(made.file, file));
  await runHledger(['-f', file, 'check', '--strict', 'ordereddates']);
  expect(readFileSync(file, 'utf8').match(/closing balances/g)).toHaveLength(3);
});

test('a stated opening is the opening balance, and what was held then is held', async () => {
  await using other = await openEnvironment();
  const { context } = other;
  await applyTransactions(context, [
    transactionOf('cashin', 99_999n, [['paid', '2026-03-09 10:00:00']]),
    transactionOf('cashout', 3_000n, [['pending', '2026-03-10 22:00:00']]),
    transactionOf('cashin', 1_050n, [['paid', '2026-03-11 10:00:00']]),
  ]);
  await openLedger(context, { platform: PLATFORM_A, day: DAY, balanceCents: 500_000n, actor: 'test' });
  await makeReport(context, DAY);
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  const summary = sheetOf(sheets, 'Resumo');
  expect(centsOf(lineOf(summary, 'Saldo inicial')?.[0])).toBe(500_000n);
  expect(centsOf(lineOf(summary, 'Saldo final')?.[0])).toBe(501_000n);
  expect(centsOf(lineOf(summary, 'do qual retido')?.[0])).toBe(3_000n);
  expect(centsOf(lineOf(summary, 'Saldo de abertura informado')?.[0])).toBe(500_000n);
  expect(lineOf(summary, 'para o início do dia')?.[0]?.value).toBe('2026-03-11 00:00:00');
  expect(rowsOf(sheetOf(sheets, 'Extrato'))).toHaveLength(1);
  const { file } = await openReport(context, { day: DAY, format: 'journal' });
  await runHledger(['-f', file, 'check', '--strict', 'ordereddates']);
});

test('an adjustment is a line of its own that names who entered it, and a stated balance stands beside the ledger with its difference', async () => {
  await using other = await openEnvironment();
  const { context } = other;
  await applyTransactions(context, [transactionOf('cashin', 10_050n, [['paid', '2026-03-11 10:00:00']])]);
  const { id: actor } = await createToken(context, { name: 'Ana Souza', role: 'accountant' });
  const by = { platform: PLATFORM_A, actor };
  await adjustBooks(context, { ...by, day: DAY, kind: 'bank', amountCents: -3_000n, note: 'saque' });
  const undone = await adjustBooks(context, { ...by, day: DAY, kind: 'fee', amountCents: -7n, note: 'engano' });
  await reverseAdjustment(context, undone, { note: 'engano', actor: 'test' });
  await stateBalance(context, { ...by, at: new Date('2026-03-11T22:00:00-03:00'), balanceCents: 6_999n });
  await makeReport(context, DAY);
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  const summary = sheetOf(sheets, 'Resumo');
  expect(centsOf(lineOf(summary, '± Ajustes')?.[0])).toBe(-3_000n);
  expect(centsOf(lineOf(summary, 'Saldo final')?.[0])).toBe(7_000n);
  expect(centsOf(lineOf(summary, 'Saldo informado (painel do provedor)')?.[0])).toBe(6_999n);
  expect(lineOf(summary, 'no momento')?.[0]?.value).toBe('2026-03-11 22:00:00');
  expect(centsOf(lineOf(summary, 'Diferença para o informado')?.[0])).toBe(-1n);
  const entered = rowsOf(sheetOf(sheets, 'Extrato')).filter((row) => /^Pessoa/.test(String(row.Origem?.value)));
  expect(entered.map((row) => [row.Movimento?.value, row.Origem?.value])).toEqual([
    ['Saque: saque', 'Pessoa: Ana Souza'],
    ['Tarifa: engano', 'Pessoa: Ana Souza'],
    // by an actor that is no token
    ['Estorno de tarifa: engano', 'Pessoa: test'],
  ]);
  const csv = await openReport(context, { day: DAY, format: 'csv' });
  expect(await readFile(csv.file, 'utf8')).toMatch(/Tarifa: engano;.*;Pessoa: Ana Souza;/);
  const masked = await openReport(context, { day: DAY, format: 'csv', masked: true });
  const withheld = await readFile(masked.file, 'utf8');
  expect(withheld).toContain(';Pessoa: Contabilidade;');
  expect(withheld).not.toMatch(/engano|Ana/);
  await runHledger(['-f', (await openReport(context, { day: DAY, format: 'journal' })).file, 'check', '--strict']);
});

/** Parses CSV: a quote within quotes is doubled. */
function parse(text: string): string[][] {
  return text
    .split('\r\n')
    .filter((line) => line !== '')
    .join('\r\n')
    .matchAll(/(?:^|(;)|(\r\n))(?:"((?:[^"]|"")*)"|([^";\r\n]*))/g)
    .reduce<string[][]>((rows, [, , newLine, quoted, plain]) => {
      if (newLine !== undefined || rows.length === 0) rows.push([]);
      rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
      return rows;
    }, []);
}
