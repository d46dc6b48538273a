/**
 * Reads a finished workbook again, before anybody gets it: the rows of each sheet, the sum of each column of money, each total
 * that a sheet shows and the balances of Resumo must be those of the ledger at the cut. The ledger's come from the database
 * (read-expected.ts), and the reader shares no code with the writer.
 */
import { ConfereError } from '../../domain/errors.ts';
import { decodeText, openWorkbook, type SheetFacts, type Workbook } from '../../spreadsheet/open-workbook.ts';
import { openFileSource } from '../../spreadsheet/open-zip.ts';
import { readSheet } from '../../spreadsheet/read-sheet.ts';
import { type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import { scanSheet } from '../../spreadsheet/scan-sheet.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import type { ReportWork } from '../render/report-work.ts';
import { TABLE_COLUMNS } from '../render/table-columns.ts';
import { fill } from '../texts/texts.ts';
import { collectSummary } from './collect-summary.ts';
import { type CheckedColumn, collectTable, startTable } from './collect-table.ts';
import { compareChain, compareSummary, compareTable, type SheetFault } from './compare-figures.ts';
import { type ExpectedFigures, readExpected, type SheetFigures, type TableName } from './read-expected.ts';

/** Up to this many rows in all sheets the streaming reader of exceljs is used, beyond it a reader of our own. */
const EXCELJS_ROWS_MAX = 200_000;
/** exceljs reads doubles, which keep 15 digits. */
const EXCELJS_CENTS_MAX = 10n ** 15n;
/** Of a workbook of our own: sheets of a million rows each, packed into less than 4 GiB. */
const ZIP_LIMITS = { partsMax: 1_000, unpackedBytesMax: 128 * 1024 ** 3 };
/** Rows between two checks of the signal. */
const ABORT_ROWS = 1_000;
const FAULTS_SHOWN = 3;

const COLUMNS: Record<TableName, readonly CheckedColumn[]> = TABLE_COLUMNS;

/** A workbook that differs from the ledger: nobody gets it. */
export class ReadBackError extends ConfereError {
  readonly faults: readonly SheetFault[];

  constructor(faults: readonly SheetFault[]) {
    const texts = faults.slice(0, FAULTS_SHOWN).map(({ sheet, text }) => `${sheet}: ${text}`);
    const more = faults.length > FAULTS_SHOWN ? `; and ${faults.length - FAULTS_SHOWN} more` : '';
    super('report_differs', `the workbook differs from the ledger, nothing is published: ${texts.join('; ')}${more}`);
    this.faults = faults;
  }
}

/** A written workbook, and what it was written from. `digest` is that of its rows. */
export type ReadableWork = { work: ReportWork<AnyPlan>; digest: Buffer };

/** @throws ReadBackError with each difference, by sheet. */
export async function readBack(
  { work, digest }: ReadableWork,
  limits = { exceljsRowsMax: EXCELJS_ROWS_MAX },
): Promise<void> {
  const expected = await readExpected(work, digest);
  await using source = await openFileSource(work.files.xlsx);
  const workbook = await openWorkbook(source, ZIP_LIMITS).catch((error: unknown) => {
    if (error instanceof UnreadableFileError) throw new ReadBackError([{ sheet: '', text: error.message }]);
    throw error;
  });
  const read = suitsExceljs(expected, limits.exceljsRowsMax) ? readSheet : scan;
  const rowsOf = (sheet: SheetFacts) => untilAborted(read(workbook, sheet), work.signal);
  const faults = [...(await checkSummary(work, workbook, expected, rowsOf)), ...findUnknown(work, workbook)];
  for (const [name, figures] of Object.entries(expected.tables) as [TableName, SheetFigures][]) {
    const title = work.rendering.texts.sheets[name];
    faults.push(
      ...(await collectFaults(title, () => checkTable(work, workbook, { name, title, figures, expected }, rowsOf))),
    );
  }
  if (faults.length > 0) throw new ReadBackError(faults);
}

type RowsOf = (sheet: SheetFacts) => AsyncIterable<SheetRow>;

function scan({ zip }: Workbook, { part }: SheetFacts): AsyncGenerator<SheetRow, void, undefined> {
  return scanSheet(decodeText(zip.open(part)));
}

async function* untilAborted(
  rows: AsyncIterable<SheetRow>,
  signal: AbortSignal,
): AsyncGenerator<SheetRow, void, undefined> {
  for await (const row of rows) {
    if (row.number % ABORT_ROWS === 0) signal.throwIfAborted();
    yield row;
  }
}

function suitsExceljs({ tables, total }: ExpectedFigures, rowsMax: number): boolean {
  const sums = Object.values(tables).flatMap((one) => Object.values(one.sums));
  const rows = Object.values(tables).reduce((count, one) => count + one.rows, 0);
  return (
    rows <= rowsMax &&
    [...sums, ...Object.values(total)].every((cents) => -EXCELJS_CENTS_MAX < cents && cents < EXCELJS_CENTS_MAX)
  );
}

async function checkSummary(
  work: ReportWork<AnyPlan>,
  workbook: Workbook,
  expected: ExpectedFigures,
  rowsOf: RowsOf,
): Promise<SheetFault[]> {
  const title = nameSummary(work);
  return await collectFaults(title, async () => {
    const sheet = workbook.sheets.find((one) => one.title === title);
    if (!sheet) throw new UnreadableFileError('the sheet is missing');
    return compareSummary(title, await collectSummary(rowsOf(sheet), work.rendering.texts), expected);
  });
}

async function checkTable(
  { rendering: { texts } }: ReportWork<AnyPlan>,
  workbook: Workbook,
  {
    name,
    title,
    figures,
    expected,
  }: { name: TableName; title: string; figures: SheetFigures; expected: ExpectedFigures },
  rowsOf: RowsOf,
): Promise<SheetFault[]> {
  const parts = workbook.sheets.filter((sheet) => isPartOf(sheet, title, texts.notes.part));
  if (parts.length === 0) throw new UnreadableFileError('the sheet is missing');
  const table = startTable();
  const chain = { cents: expected.total.opening, brokenAt: undefined };
  for (const part of parts) {
    const isStatement = name === 'statement';
    await collectTable(rowsOf(part), { columns: COLUMNS[name], texts }, table, isStatement ? chain : undefined);
  }
  const faults = compareTable(title, table, figures);
  return name === 'statement' ? [...faults, ...compareChain(title, chain, expected.total.closing)] : faults;
}

/** Runs `check`; a sheet that cannot be read is a fault too. */
async function collectFaults(sheet: string, check: () => Promise<SheetFault[]>): Promise<SheetFault[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof UnreadableFileError) return [{ sheet, text: error.message }];
    throw error;
  }
}

/** Sheets that no figures are known of. */
function findUnknown(work: ReportWork<AnyPlan>, { sheets }: Workbook): SheetFault[] {
  const { texts } = work.rendering;
  const titles = (Object.keys(COLUMNS) as TableName[]).map((name) => texts.sheets[name]);
  return sheets
    .filter((one) => one.title !== nameSummary(work) && !titles.some((title) => isPartOf(one, title, texts.notes.part)))
    .map((one) => ({ sheet: one.title, text: 'nothing is known of this sheet' }));
}

function nameSummary({ plan, rendering: { texts } }: ReportWork<AnyPlan>): string {
  return 'days' in plan ? texts.period.sheet : texts.sheets.summary;
}

/** `Extrato`, `Extrato (2)`. */
function isPartOf({ title: own }: SheetFacts, title: string, suffix: string): boolean {
  if (own === title) return true;
  const [before = '', after = ''] = suffix.split('{part}');
  const number = own.slice(title.length + before.length, own.length - after.length);
  return /^[1-9]\d{0,5}$/.test(number) && own === title + fill(suffix, { part: number });
}
