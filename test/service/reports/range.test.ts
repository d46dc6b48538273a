import { readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { type Day, listDays } from '../../../src/domain/calendar.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { exportRange, parseRange, type WantedRange } from '../../../src/reports/serve/export-range.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { readBalances } from '../../../src/seal/read-balances.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { compareRange, readDays } from './compare-range.ts';
import {
  centsOf,
  checkChart,
  lineOf,
  type ReadSheet,
  readWorkbook,
  recalculate,
  rowsOf,
  sheetOf,
} from './read-workbook.ts';

const RANGE = { from: '2026-03-08', to: '2026-03-12' };
const MIDDLE = '2026-03-10';
const books = closeAfterAll(await openEnvironment());

beforeAll(async () => {
  const { context } = books;
  const days = listDays('2026-03-07', '2026-03-13').filter((day) => day !== '2026-03-09');
  await applyTransactions(context, [
    ...generateTransactions(300, days, 21),
    transactionOf('cashin', 5_000n, [['paid', '2026-03-08 00:00:00']]),
    transactionOf('cashin', 7_000n, [['paid', '2026-03-12 23:59:59']]),
    transactionOf('cashin', 9_000n, [['paid', '2026-03-13 00:00:00']]),
  ]);
  const by = { platform: PLATFORM_A, actor: 'test' };
  await openLedger(context, { ...by, day: MIDDLE, balanceCents: 900_000n });
  await adjustBooks(context, { ...by, day: MIDDLE, kind: 'fee', amountCents: -1_234n, note: 'tarifa' });
}, 120_000);

/** Exports a range and reads it; the file itself is deleted. */
async function read(wanted: Partial<WantedRange> = {}) {
  const file = path.join(books.dataDir, 'range.xlsx');
  let name = '';
  let state = '';
  await exportRange(books.context, { ...RANGE, format: 'xlsx', ...wanted }, async (made) => {
    ({ name, state } = made);
    await copyFile(made.file, file);
  });
  return { name, state, file, sheets: await readWorkbook(file) };
}

async function readDay(day: Day): Promise<ReadSheet[]> {
  await makeReport(books.context, day);
  return await readWorkbook((await openReport(books.context, { day, format: 'xlsx' })).file);
}

test("a range's figures are those of its days to the cent, also where an opening is stated within it", async () => {
  const { sheets, name, state } = await read();
  expect([name, state]).toEqual(['confere-2026-03-08-2026-03-12.xlsx', 'provisional']);
  expect(sheets.map((sheet) => sheet.title)).toEqual([
    'Resumo do período',
    ...['Extrato', 'Recebimentos', 'Pagamentos', 'Devoluções', 'Pendentes', 'Divergências'],
  ]);
  const days = new Map<Day, ReadSheet[]>();
  for (const day of listDays(RANGE.from, RANGE.to)) days.set(day, await readDay(day));
  compareRange(sheets, days);
  const summary = sheetOf(sheets, 'Resumo do período');
  const opened = centsOf(lineOf(summary, 'Saldos iniciais informados depois do primeiro dia')?.[0]);
  expect(opened).not.toBe(0n);
  const rows = readDays(sheets);
  const last = centsOf(rows.get(RANGE.to)?.['Saldo final']);
  const first = centsOf(rows.get(RANGE.from)?.['Saldo inicial']);
  expect(centsOf(lineOf(summary, 'Diferença no razão (saldo final − saldo inicial)')?.[0])).toBe(last - first);
  expect(
    rowsOf(sheetOf(sheets, 'Extrato')).filter((row) => row.Movimento?.value === 'Saldo inicial').length,
  ).toBeGreaterThan(0);
});

test("a range's charts draw its receipts and payments by day, and the statuses reached", async () => {
  const { sheets } = await read();
  const summary = sheetOf(sheets, 'Resumo do período');
  expect(summary.charts.map((chart) => [chart.title, checkChart(sheets, summary, chart)])).toEqual([
    ['Recebimentos e pagamentos por dia', ['Recebimentos', 'Pagamentos']],
    ['Transações por situação alcançada', ['Quantidade']],
  ]);
  expect(summary.charts[0]?.series[0]?.values.values).toHaveLength(5);
});

test('LibreOffice computes every formula of a range to its cached value', async () => {
  const { file, sheets } = await read();
  const recomputed = await recalculate(file);
  let formulas = 0;
  for (const sheet of sheets) {
    const other = sheetOf(recomputed, sheet.title);
    for (const [index, row] of sheet.rows.entries()) {
      for (const [column, cell] of row.entries()) {
        if (!cell?.formula) continue;
        formulas++;
        expect([sheet.title, index, column, other.rows[index]?.[column]?.value]).toEqual([
          sheet.title,
          index,
          column,
          cell.value,
        ]);
      }
    }
  }
  expect(formulas).toBeGreaterThan(50);
});

test('beyond the limit of rows a sheet of a range continues in parts, and the sums stay', async () => {
  const { sheets } = await read({ rowsPerSheetMax: 40 });
  const whole = rowsOf(sheetOf((await read()).sheets, 'Extrato')).length;
  const parts = sheets.filter((sheet) => sheet.title.startsWith('Extrato'));
  expect(parts.length).toBe(Math.ceil(whole / 40));
  expect(parts.reduce((sum, sheet) => sum + rowsOf(sheet).length, 0)).toBe(whole);
  const summary = sheetOf(sheets, 'Resumo do período');
  for (const label of ['Diferença (deve ser 0,00)', 'Diferença do retido (deve ser 0,00)']) {
    const numbers = lineOf(summary, label)?.filter((cell) => cell?.kind === 'number') ?? [];
    expect([label, numbers.map((cell) => cell?.value)]).toEqual([label, numbers.map(() => 0)]);
  }
});

test('a range of one platform has its rows alone', async () => {
  const { sheets, name } = await read({ platform: PLATFORM_A });
  expect(name).toBe(`confere-2026-03-08-2026-03-12-platform-${PLATFORM_A}.xlsx`);
  const platforms = new Set(rowsOf(sheetOf(sheets, 'Extrato')).map((row) => row.Plataforma?.value));
  expect([...platforms]).toEqual([PLATFORM_A]);
});

test('a masked range shows no names, and nothing of a range stays on the disk', async () => {
  const { sheets, name } = await read({ masked: true });
  expect(name).toContain('-masked');
  const names = rowsOf(sheetOf(sheets, 'Recebimentos')).map((row) => String(row.Nome?.value));
  expect(names.length).toBeGreaterThan(0);
  expect(sheetOf(sheets, 'Resumo do período').charts).toHaveLength(2);
  for (const one of names) expect(one).toMatch(/^(\p{L}?\*\*\*\s?)+$/u);
  const kept = readdirSync(path.join(books.dataDir, 'reports'));
  expect(kept.filter((one) => one.startsWith('.draft') || one.includes('2026-03-08-2026'))).toEqual([]);
});

test('a range with a running day is partial, and says so; without any event it has no charts', async () => {
  const today = books.context.calendar.dayOf(books.context.clock.now());
  const { sheets, state } = await read({ from: today, to: today });
  expect(state).toBe('partial');
  const summary = sheetOf(sheets, 'Resumo do período');
  expect(lineOf(summary, 'Situação')?.[0]?.value).toBe('PARCIAL');
  expect(summary.charts).toEqual([]);
});

test.each([
  [{ from: '2026-03-12', to: '2026-03-11' }, '2026-03-12 is after 2026-03-11'],
  [{ from: '2026-01-01', to: '2026-04-03' }, 'has 93 days: at most 92 are allowed'],
  [{ from: '2998-12-31', to: '2999-01-01' }, '2999-01-01, which has not begun'],
  [{ platform: 'nobody' }, 'nothing is known of a platform nobody'],
])('the range %j is refused', async (wanted, reason) => {
  await expect(read(wanted)).rejects.toThrow(reason);
});

test('a month is all its days, a running one those up to today', () => {
  const { context } = books;
  const today = context.calendar.dayOf(context.clock.now());
  expect(parseRange(context, '2024-02')).toEqual({ from: '2024-02-01', to: '2024-02-29' });
  expect(parseRange(context, today.slice(0, 7))).toEqual({ from: `${today.slice(0, 7)}-01`, to: today });
  expect(parseRange(context, '2026-03-01..2026-03-05')).toEqual({ from: '2026-03-01', to: '2026-03-05' });
  for (const text of ['2026-13', '2026-02-01..2026-02-30', '2026-03-01', '', '..']) {
    expect([text, parseRange(context, text)]).toEqual([text, undefined]);
  }
});

test('a summary says that its open mismatches are of all days, how many are its own, and of which platforms no balance was stated', async () => {
  const { context } = books;
  const month = 'Resumo do período';
  const own = async () => {
    const summary = sheetOf((await read()).sheets, month);
    expect(lineOf(summary, 'Divergências em aberto, de todos os dias, quando foi feito')).toBeDefined();
    return Number(lineOf(summary, 'Deste período, de todos os tipos')?.[0]?.value);
  };
  const raise = (...days: Day[]) => {
    const found = days.map((day) => ({ kind: 'list_unstable' as const, scope: day }));
    return transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()));
  };
  await raise('2026-02-01', MIDDLE);
  const before = await own();
  await raise('2026-02-02', '2026-03-13', RANGE.from, RANGE.to);
  expect(await own()).toBe(before + 2);
  expect(lineOf(sheetOf(await readDay(MIDDLE), 'Resumo'), 'Deste dia, de todos os tipos')?.[0]?.value).toBeGreaterThan(
    0,
  );
  const unstated = async () => lineOf(sheetOf((await read()).sheets, month), 'Saldo do provedor')?.[0]?.value;
  expect(await unstated()).toBe('não informado de 2 de 2 plataformas: nada o compara com o razão');
  const at = context.calendar.startOfDay(MIDDLE);
  await storeStatement(context, { platform: PLATFORM_A, at, balanceCents: 1n, actor: 'test' });
  const [differs, missing] = ['não confere em 1 de 2 plataformas', 'não informado de 1 de 2 plataformas'];
  expect(await unstated()).toBe(`${differs}; ${missing}: nada o compara com o razão`);
  const open = async () => lineOf(sheetOf((await read()).sheets, month), 'Divergências')?.[0]?.value;
  expect(await open()).toMatch(
    new RegExp(
      `^${await own()} deste período em aberto \\(críticas: \\d+\\), R\\$ [\\d.]+,\\d\\d em jogo; de todos os dias, \\d+$`,
    ),
  );
  const ledger = (await readBalances(context.db, context.calendar.toWallTime(at), 'now', context.clock.now())).balances
    .filter(({ account }) => account.startsWith('Assets:Provider:') && account.endsWith(`:${PLATFORM_A}`))
    .reduce((sum, { cents }) => sum + cents, 0n);
  await storeStatement(context, { platform: PLATFORM_A, at, balanceCents: ledger, actor: 'test' });
  expect(await unstated()).toBe(
    `${missing}: nada o compara com o razão; confere com o razão em 1 de 2 plataformas, no último saldo informado de cada uma`,
  );
});
