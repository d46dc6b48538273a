/**
 * One measurement in a process of its own, so that its peak memory is its own. Prints one line of JSON.
 * `report <day>` makes the day's report from the database of the environment, `range <from>..<to>` the workbook of these
 * days; `exceljs <rows>` streams the same styled
 * cells with exceljs alone; `csv <rows>`, `ofx <rows>` and `lancamentos <rows>` write the same rows in these formats.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type ExcelJS from 'exceljs';
import { readConfig } from '../../src/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { createLog } from '../../src/log.ts';
import { createTally } from '../../src/reports/read/create-tally.ts';
import type { Movement } from '../../src/reports/read/read-movements.ts';
import {
  RECEIPT_COLUMNS,
  type RenderContext,
  type ReportColumn,
  STATEMENT_COLUMNS,
} from '../../src/reports/render/columns.ts';
import { GENERIC } from '../../src/reports/render/formats/layouts.ts';
import { openMapped } from '../../src/reports/render/formats/open-lancamentos.ts';
import { openOfx } from '../../src/reports/render/formats/open-ofx.ts';
import type { FormatWork, Output } from '../../src/reports/render/formats/output.ts';
import { openCsv } from '../../src/reports/render/formats/write-csv.ts';
import { makeReport } from '../../src/reports/revisions/make-report.ts';
import { exportRange, type Range } from '../../src/reports/serve/export-range.ts';
import { sealNow } from '../../src/seal/seal-ledger.ts';
import { textsOf } from '../../src/texts/reports/texts.ts';

const DRAIN_EVERY_ROWS = 2_000;
const MS_A_DAY = 86_400_000;
const PLATFORM = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const ACCOUNTS = ['Assets:Provider:Available', 'Expenses:Commission:Cashin', 'Liabilities:Receipts'];
const rendering: RenderContext = {
  texts: textsOf('pt-BR'),
  fullDocuments: false,
  toWall: () => '2026-03-12 06:00:00',
  platformNames: new Map(),
};

const directory = mkdtempSync(path.join(tmpdir(), 'confere-bench-reports-'));
try {
  await measure(process.argv.slice(2));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measure([mode, argument]: string[]): Promise<void> {
  const work = { report, range, exceljs, csv: write(openCsv), ofx: write(openOfx), lancamentos: write(openJournal) }[
    mode ?? ''
  ];
  if (!work || argument === undefined)
    throw new Error('report <day>, range <from>..<to>, or exceljs, csv, ofx or lancamentos with <rows>');
  const { rows, seconds } = await work(argument);
  const peakMiB = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(`${JSON.stringify({ rows, seconds, peakMiB })}\n`);
}

async function report(day: string): Promise<{ rows: number; seconds: number }> {
  return await measureWork({ from: day, to: day }, (context) => makeReport(context, day));
}

async function range(text: string): Promise<{ rows: number; seconds: number }> {
  const [from = '', to = ''] = text.split('..');
  return await measureWork({ from, to }, (context) =>
    exportRange(context, { from, to, format: 'xlsx' }, async () => undefined),
  );
}

/** @returns the seconds that the work took, and the movements of its days. */
async function measureWork({ from, to }: Range, work: (context: Context) => Promise<unknown>) {
  const config = readConfig({ ...process.env, DATA_DIR: directory });
  const log = createLog('silent', process.stderr);
  const signal = new AbortController().signal;
  await using context = await openContext(config, { log, signal, migrates: false });
  // the sealer runs every second: a report does not find a day that is not sealed
  await sealNow(context);
  const started = performance.now();
  await work(context);
  const seconds = (performance.now() - started) / 1000;
  const { rows } = await context.db
    .selectFrom('entries')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .where('at_wall', '>=', `${from} 00:00:00`)
    .where('at_wall', '<=', `${to} 23:59:59`)
    .executeTakeFirstOrThrow();
  return { rows: Number(rows), seconds };
}

/** Streams the two large sheets of the day with exceljs: the same cells, formats and widths. */
async function exceljs(argument: string): Promise<{ rows: number; seconds: number }> {
  const rows = Number(argument);
  const started = performance.now();
  const out = createWriteStream(path.join(directory, 'bare.xlsx'));
  // imported here, so that the other modes do not load it into memory
  const { default: library } = await import('exceljs');
  const book = new library.stream.xlsx.WorkbookWriter({ stream: out, useStyles: true, useSharedStrings: false });
  await stream(book, 'Extrato', STATEMENT_COLUMNS, rows);
  await stream(book, 'Recebimentos', RECEIPT_COLUMNS, rows);
  await book.commit();
  return { rows, seconds: (performance.now() - started) / 1000 };
}

async function stream(
  book: ExcelJS.stream.xlsx.WorkbookWriter,
  title: string,
  columns: ReportColumn<ReturnType<typeof inventRow>>[],
  rows: number,
): Promise<void> {
  const sheet = book.addWorksheet(title);
  const formats = {
    ...{ text: '@', money: '#,##0.00;[Red]-#,##0.00', moment: 'dd/mm/yyyy hh:mm:ss', day: 'dd/mm/yyyy' },
    count: '0',
  };
  sheet.columns = columns.map((column) => ({
    header: rendering.texts.columns[column.name],
    width: column.width,
    style: { numFmt: formats[column.type], border: { bottom: { style: 'hair' as const } } },
  }));
  for (let number = 0; number < rows; number++) {
    const row = inventRow(number);
    sheet.addRow(columns.map((column) => toValue(column.cell(row, rendering)))).commit();
    if (number % DRAIN_EVERY_ROWS === 0) await new Promise(setImmediate);
  }
  sheet.commit();
}

function toValue(cell: ReturnType<ReportColumn<never>['cell']>): string | number | Date | null {
  if (cell === undefined) return null;
  if ('text' in cell) return cell.text;
  if ('cents' in cell) return cell.cents === null ? null : Number(cell.cents) / 100;
  if ('moment' in cell) return cell.moment === null ? null : new Date(`${cell.moment.replace(' ', 'T')}Z`);
  return null;
}

/** Writes rows with the function that opens a file of their format, without a database. */
function write(open: (work: FormatWork, file: string) => Promise<Output>) {
  return async (argument: string): Promise<{ rows: number; seconds: number }> => {
    const rows = Number(argument);
    const work = inventWork();
    const started = performance.now();
    const file = await open(work, path.join(directory, 'bare'));
    for (let number = 0; number < rows; number++) {
      const row = inventRow(number);
      work.tally.add(row.movement);
      file.add(row);
      if (number % DRAIN_EVERY_ROWS === 0) await file.drain();
    }
    await file.end();
    return { rows, seconds: (performance.now() - started) / 1000 };
  };
}

function inventWork(): FormatWork {
  let parts = 0;
  const { signal } = new AbortController();
  const work = {
    plan: { days: [{ day: '2026-03-11' }], locale: 'pt-BR', madeAt: new Date(0), masked: false },
    tally: createTally([], undefined),
    factory: { scratch: () => ({ file: path.join(directory, `part-${parts++}`), signal }) },
    ...{ rendering, signal, balances: [] },
  };
  // cast: of the work of a day these formats read these parts alone, and the bench has no day in a database
  return work as unknown as FormatWork;
}

function openJournal(work: FormatWork, file: string): Promise<Output> {
  const more = { platform: null, category: null, cost_center: null, history: null };
  const accounts = ACCOUNTS.map((account, index) => ({ account, code: `1.1.${index}`, ...more }));
  return openMapped(work, file, { layout: GENERIC, accounts });
}

function inventRow(number: number) {
  const amountCents = BigInt((number * 7919) % 500_000) + 100n;
  const atWall = new Date(Date.UTC(2026, 2, 11) + (number % MS_A_DAY)).toISOString().slice(0, 19).replace('T', ' ');
  const movement: Movement = {
    kind: 'receipt',
    amountCents,
    commissionCents: 50n,
    netCents: amountCents - 50n,
    heldCents: 0n,
    atWall,
    isReversal: false,
    inForce: true,
    entrySeq: number,
    eventSeq: number,
    adjustment: null,
    platform: PLATFORM,
    transactionSeq: number,
    transactionId: `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')}`,
    status: 'paid',
    createdWall: atWall,
    reference: `pedido-${number}`,
    extra: null,
    e2eId: `E12345678202603111200${String(number).padStart(11, '0')}`,
    name: `Maria da Conceição ${number}`,
    document: '12345678909',
    forgotten: false,
    recordedAt: new Date(0),
    source: 'show',
    postings: ACCOUNTS.map((account, index) => ({
      account: `${account}:${PLATFORM}`,
      cents: [amountCents - 50n, 50n, -amountCents][index] ?? 0n,
    })),
  };
  return { movement, commissionCents: 50n, platformBalanceCents: amountCents, balanceCents: amountCents };
}
