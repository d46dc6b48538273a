/** A finished workbook is compared with the ledger: with a fault in any part of the writer, nobody gets the file. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { inSnapshot } from '../../../src/database/in-snapshot.ts';
import { transact } from '../../../src/database/transact.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import type { SheetFault } from '../../../src/reports/readback/compare-figures.ts';
import { type ReadBackError, readBack } from '../../../src/reports/readback/read-back.ts';
import * as columns from '../../../src/reports/render/columns.ts';
import { writeReport } from '../../../src/reports/render/write-report.ts';
import { makeReport, reportsDirectory } from '../../../src/reports/revisions/make-report.ts';
import { findRevision } from '../../../src/reports/revisions/present-report.ts';
import { withDrafts } from '../../../src/reports/revisions/publish-drafts.ts';
import { exportRange, type WantedRange } from '../../../src/reports/serve/export-range.ts';
import { openReport, planRebuild } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readRows } from '../../support/read-rows.ts';

/** A fault of the writer: in the first row of sheets, or in any cell. */
const writer = vi.hoisted(() => ({
  dropsRow: (_sheet: string): boolean => false,
  addsCent: (_sheet: string, _column: string): boolean => false,
  losesChanges: false,
  cell: undefined as ((address: string, cell: unknown) => unknown) | undefined,
}));

vi.mock('../../../src/reports/render/open-table.ts', async (original) => {
  const real = await original<typeof import('../../../src/reports/render/open-table.ts')>();
  const openTable: typeof real.openTable = (factory, table, rendering) => {
    // the writer's own totals have the cent too
    const columns = table.columns.map((column) => {
      if (!writer.addsCent(table.title, column.name)) return column;
      let isFirst = true;
      const cell: typeof column.cell = (...given) => {
        const made = column.cell(...given);
        if (!isFirst || made === undefined || !('cents' in made)) return made;
        isFirst = false;
        return { ...made, cents: (made.cents ?? 0n) + 1n };
      };
      return { ...column, cell };
    });
    const opened = real.openTable(factory, { ...table, columns }, rendering);
    let isDropped = !writer.dropsRow(table.title);
    return {
      ...opened,
      add(row) {
        if (isDropped) opened.add(row);
        isDropped = true;
      },
    };
  };
  return { ...real, openTable };
});
vi.mock('../../../src/reports/render/changes/describe-adjustments.ts', async (original) => {
  const real = await original<typeof import('../../../src/reports/render/changes/describe-adjustments.ts')>();
  const describeAdjustments: typeof real.describeAdjustments = async function* (work, base) {
    for await (const rows of real.describeAdjustments(work, base)) yield writer.losesChanges ? rows.slice(1) : rows;
  };
  return { describeAdjustments };
});
vi.mock('../../../src/reports/xlsx/render-cell.ts', async (original) => {
  const real = await original<typeof import('../../../src/reports/xlsx/render-cell.ts')>();
  const renderCell: typeof real.renderCell = (address, cell) =>
    real.renderCell(address, (writer.cell ? writer.cell(address, cell) : cell) as typeof cell);
  return { ...real, renderCell };
});

const DAY = '2026-03-11';
const RANGE = { from: '2026-03-10', to: '2026-03-12' };
const books = closeAfterAll(await openEnvironment());

beforeAll(async () => {
  const { context } = books;
  await applyTransactions(context, [
    ...generateTransactions(200, ['2026-03-10', DAY, '2026-03-12'], 11),
    // a commission that is learnt later is part of the payment's row
    transactionOf('cashin', 12_345n, [['paid', `${DAY} 10:00:00`]], { id: LATE, commissionCents: null }),
    transactionOf('cashin', 99n, [
      ['paid', `${DAY} 11:00:00`],
      ['refund', `${DAY} 12:00:00`],
    ]),
    transactionOf('cashout', 5_000n, [['pending', `${DAY} 13:00:00`]]),
    transactionOf('cashout', 7_000n, [
      ['pending', `${DAY} 13:00:00`],
      ['paid', `${DAY} 13:10:00`],
    ]),
    transactionOf('cashin', 1_000n, [['paid', `${DAY} 14:00:00`]], { platform: '=weird:ção', name: null }),
  ]);
  await makeReport(context, DAY);
  await applyTransactions(context, [
    transactionOf('cashin', 12_345n, [['paid', `${DAY} 10:00:00`]], { id: LATE, commissionCents: 77n }),
    transactionOf('cashin', 2_000n, [['paid', `${DAY} 15:00:00`]]),
  ]);
  const by = { platform: PLATFORM_A, actor: 'test' };
  await openLedger(context, { ...by, day: DAY, balanceCents: -900_001n });
  await adjustBooks(context, { ...by, day: DAY, kind: 'fee', amountCents: -1_234n, note: 'tarifa' });
  await transact(context.db, (trx) =>
    raiseMismatches(
      trx,
      [{ kind: 'row_refused', scope: 'p', amountCents: 4_321n, expected: null, actual: { a: 'b' } }],
      context.clock.now(),
    ),
  );
});
const LATE = '0f0e0d0c-0000-4000-8000-00000000aaaa';
afterEach(() => {
  Object.assign(writer, { dropsRow: () => false, addsCent: () => false, losesChanges: false, cell: undefined });
});

type Wanted = Parameters<typeof planRebuild>[2] & { rowsPerSheetMax?: number };

/** Writes the workbook of the newest revision again, and reads it back by both readers. @returns the faults, by sheet. */
async function check({ rowsPerSheetMax, ...wanted }: Wanted = {}): Promise<readonly SheetFault[]> {
  const { context } = books;
  const revision = await findRevision(context.db, DAY);
  if (!revision) throw new Error(`no report of ${DAY}`);
  const plan = await planRebuild(context, revision, wanted);
  return await withDrafts(reportsDirectory(context), randomUUID(), (directory) =>
    inSnapshot(context.db, async (snapshot) => {
      const written = await writeReport(
        snapshot,
        { ...plan, ...(rowsPerSheetMax ? { rowsPerSheetMax } : {}) },
        directory,
      );
      const [byExceljs, byUs] = await Promise.all(
        [20_000_000, 0].map((parsedBytesMax) =>
          readBack(written, { parsedBytesMax }).then(
            () => [],
            (error: ReadBackError) => error.faults,
          ),
        ),
      );
      expect(byUs).toEqual(byExceljs);
      return byUs ?? [];
    }),
  );
}

const listFiles = () => readdirSync(path.join(books.dataDir, 'reports')).sort();
const listAlerts = async () =>
  await readRows(books.context.db, 'alerts', ['scope', 'summary', 'ended_at', 'facts'], { name: 'report_differs' }, [
    'seq',
  ]);
const exportOne = (wanted: Partial<WantedRange> = {}) =>
  exportRange(books.context, { ...RANGE, format: 'xlsx', ...wanted }, async () => undefined);

test('nothing of a revision that differs is published, an alert names the sheet, and it ends once the report is made', async () => {
  const { context } = books;
  const before = listFiles();
  writer.addsCent = (sheet, column) => sheet === 'Extrato' && column === 'amount';
  await expect(makeReport(context, DAY)).rejects.toMatchObject({ code: 'report_differs' });
  await expect(makeReport(context, DAY)).rejects.toThrow(
    /Extrato: amount: -?[\d.]+ in the file, -?[\d.]+ in the ledger/,
  );
  expect((await findRevision(context.db, DAY))?.revision).toBe(1);
  expect(listFiles()).toEqual(before);
  const [alert, ...others] = await listAlerts();
  expect(others).toEqual([]);
  expect(alert).toMatchObject({
    scope: DAY,
    ended_at: null,
    summary: expect.stringContaining('its sheet Extrato differs'),
  });
  expect(JSON.parse(alert?.facts ?? '')).toMatchObject({ days: [DAY], sheet: 'Extrato' });
  writer.addsCent = () => false;
  expect((await makeReport(context, DAY)).report.revision).toBe(2);
  expect(await listAlerts()).toMatchObject([{ scope: DAY, ended_at: expect.any(Date) }]);
});

test('a file on request that differs is not given, and raises one alert an hour, which ends at once', async () => {
  writer.addsCent = (sheet, column) => sheet === 'Pagamentos' && column === 'cost';
  for (const wanted of [{}, { platform: PLATFORM_A }]) {
    await expect(exportOne(wanted)).rejects.toMatchObject({ code: 'report_differs' });
  }
  const open = openReport(books.context, { day: DAY, format: 'xlsx', masked: true });
  await expect(open).rejects.toThrow(/Pagamentos: cost/);
  expect((await listAlerts()).slice(1)).toMatchObject([
    { scope: '2026-03-10..2026-03-12', ended_at: expect.any(Date), summary: expect.stringContaining('2026-03-10 to') },
    { scope: `${DAY}..${DAY}`, ended_at: expect.any(Date) },
  ]);
  expect(listFiles().filter((name) => name.includes('masked') || name.startsWith('.draft'))).toEqual([]);
});

test.each([
  [{}],
  [{ masked: true }],
  [{ locale: 'en' as const }],
  [{ platform: PLATFORM_A }],
  [{ platform: '=weird:ção' }],
  [{ rowsPerSheetMax: 20 }],
])('a workbook without a fault agrees with the ledger: %j', async (wanted) => {
  expect(await check(wanted)).toEqual([]);
});

const SHEETS = {
  Extrato: columns.STATEMENT_COLUMNS,
  Recebimentos: columns.RECEIPT_COLUMNS,
  Pagamentos: columns.PAYMENT_COLUMNS,
  Devoluções: columns.REFUND_COLUMNS,
  Pendentes: columns.PENDING_COLUMNS,
  Divergências: columns.MISMATCH_COLUMNS,
  Alterações: columns.CHANGE_COLUMNS,
};

test('a cent more in any column of money is found, though the sheet adds up', async () => {
  writer.addsCent = () => true;
  const faults = await check();
  for (const [sheet, list] of Object.entries(SHEETS)) {
    const names = list.filter(({ type }) => type === 'money').map(({ name }) => name);
    const found = faults.filter((fault) => fault.sheet === sheet).map(({ text }) => text);
    for (const name of names) {
      const text = name === 'balance' ? /^the balance of row 5 does not follow/ : new RegExp(`^${name}: `);
      expect(found).toContainEqual(expect.stringMatching(text));
    }
  }
});

test('a row that is missing from any sheet is found', async () => {
  writer.dropsRow = () => true;
  const faults = await check();
  for (const sheet of Object.keys(SHEETS))
    expect(faults).toContainEqual({ sheet, text: expect.stringMatching(/^rows: \d+ in the file, \d+ in the ledger$/) });
});

test.each([
  ['a total that is wrong alone', 'moneyTotal', 'Extrato', /^total of /],
  ['a sum above the header that is wrong alone', 'moneyShown', 'Extrato', / above the header: /],
  ['a balance on Resumo that is wrong alone', 'money', 'Resumo', /^(opening|closing|held|ledger), column /],
])('%s is found', async (_name, style, sheet, text) => {
  writer.cell = (_address, cell) => {
    const made = cell as { cents?: bigint | null; style?: string };
    return made?.cents !== undefined && made.cents !== null && made.style === style
      ? { ...made, cents: made.cents + 100n }
      : cell;
  };
  expect(await check()).toContainEqual({ sheet, text: expect.stringMatching(text) });
});

/** Makes the writer add cents to cells, by column, of the rows that begin with this cell. */
function addToRow(first: object, cents: Record<string, bigint>): void {
  let row = '';
  writer.cell = (address, cell) => {
    const [column = '', number = ''] = address.split(/(?=\d)(.*)/);
    if (column === 'A') row = Object.entries(first).every(([name, value]) => get(cell, name) === value) ? number : '';
    const own = get(cell, 'cents');
    return number === row && typeof own === 'bigint'
      ? { ...(cell as object), cents: own + (cents[column] ?? 0n) }
      : cell;
  };
}
const get = (cell: unknown, name: string): unknown => (cell as Record<string, unknown> | undefined)?.[name];

test.each([
  ['+ Recebimentos', { B: 1n }, 'opening and lines, column 1'],
  ['− Tarifas sobre pagamentos', { E: 1n }, 'total of commissions'],
  ['− Pagamentos', { E: 1n }, 'total of payments'],
  ['− Devoluções feitas', { E: 1n }, 'total of refunds made'],
  ['± Ajustes', { E: 1n }, 'opening and lines, column 4'],
])('a cent more in the line %s of Resumo is found', async (text, cents, fault) => {
  addToRow({ text }, cents);
  expect(await check()).toContainEqual({ sheet: 'Resumo', text: expect.stringMatching(`^${fault}: `) });
});

test('a cent more in a day of Resumo do período is found, also where the day adds up', async () => {
  addToRow({ day: DAY }, { F: 1n });
  await expect(exportOne()).rejects.toThrow('Resumo do período: opening and movements of day 2: ');
  addToRow({ day: DAY }, { C: 1n, E: -1n });
  await expect(exportOne()).rejects.toThrow(/receipts of all days: .*; Resumo do período: payments of all days: /);
});

test('a text in the place of an amount is found', async () => {
  writer.cell = (address, cell) => (address === 'E5' ? { text: 'R$ 1,00' } : cell);
  const text = 'row 5 has a cell of money without an amount';
  expect(await check()).toContainEqual({ sheet: 'Extrato', text });
});

test('a range, each platform and a masked file agree with the ledger', async () => {
  for (const wanted of [
    {},
    { platform: PLATFORM_A },
    { masked: true },
    { rowsPerSheetMax: 50 },
    { locale: 'en' as const },
  ]) {
    await exportOne(wanted);
  }
});

test('a change of a closed month that the writer and the reader both miss is found by the balance that was handed in', async () => {
  const { context } = books;
  const pay = (second: string) =>
    transactionOf('cashin', 3_000n, [['paid', `2026-02-10 10:00:${second}`]], { platform: PLATFORM_B });
  await applyTransactions(context, [pay('01')]);
  await recordReadDays(context, '2026-02-01', '2026-02-28', context.clock.now());
  await closeMonth(context, { month: '2026-02', actor: 'test' });
  await applyTransactions(context, [pay('02')]);
  const march = { from: '2026-03-01', to: '2026-03-31' };
  await exportOne({ ...march, platform: PLATFORM_B, masked: true });
  writer.losesChanges = true;
  await expect(exportOne(march)).rejects.toThrow(
    'Ajustes de meses anteriores: difference: 0.00 in the file, 29.50 in the ledger',
  );
});
