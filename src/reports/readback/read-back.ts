/**
 * Reads a finished workbook again, before anybody gets it: the rows of each sheet, the sum of each column of money, each total
 * that a sheet shows and the balances of Resumo must be those of the ledger at the cut. The ledger's come from the database
 * (read-expected.ts), and the reader shares no code with the writer.
 */

import { ConfereError } from '../../domain/errors.ts';
import { append } from '../../domain/lists.ts';
import { openWorkbook, type SheetFacts, type Workbook } from '../../spreadsheet/open-workbook.ts';
import { type ByteSource, openFileSource } from '../../spreadsheet/open-zip.ts';
import { readSheet } from '../../spreadsheet/read-sheet.ts';
import { decodeText } from '../../spreadsheet/read-xml.ts';
import { type SheetRow, UnreadableFileError } from '../../spreadsheet/row.ts';
import { scanSheet } from '../../spreadsheet/scan-sheet.ts';
import { fill } from '../../texts/fill.ts';
import type { AnyPlan } from '../plan/report-plan.ts';
import type { ReportWork } from '../render/report-work.ts';
import { TABLE_COLUMNS } from '../render/table-columns.ts';
import { type CollectedSummary, collectSummary } from './collect-summary.ts';
import {
  type BalanceChain,
  type CheckedColumn,
  type CollectedTable,
  collectTable,
  startTable,
} from './collect-table.ts';
import { compareChain, compareSummary, compareTable, type SheetFault } from './compare-figures.ts';
import { type ExpectedFigures, readExpected, type SheetFigures, sumOpening, type TableName } from './read-expected.ts';

/** Workbooks of up to this size, some 100,000 transactions, are read by an XML parser, larger ones by a faster reader of our form alone. */
const PARSED_BYTES_MAX = 20_000_000;
/** A workbook of our own has sheets of a million rows each, packed into less than 4 GiB. */
const ZIP_LIMITS = { partsMax: 1_000, unpackedBytesMax: 128 * 1024 ** 3 };
/** Rows between two checks of the signal. */
const ABORT_ROWS = 1_000;
const FAULTS_SHOWN = 3;
const MISSING = 'the sheet is missing';

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

/**
 * The sheets of a large workbook are read while the database adds up what the ledger holds.
 * @throws ReadBackError with each difference, by sheet.
 */
export async function readBack(
  { work, digest }: ReadableWork,
  limits = { parsedBytesMax: PARSED_BYTES_MAX },
): Promise<void> {
  await using source = await openFileSource(work.files.xlsx);
  const expecting = readExpected(work, digest);
  const isLarge = source.bytes > limits.parsedBytesMax;
  const reading = isLarge ? readWorkbook(work, source, scan) : expecting.then(() => readWorkbook(work, source, parse));
  // both have ended: nothing reads a snapshot or a file that the caller has closed
  await Promise.allSettled([expecting, reading]);
  const [expected, found] = await Promise.all([expecting, reading]);
  const faults = compareWorkbook(work, found, expected);
  if (faults.length > 0) throw new ReadBackError(faults);
}

type Reader = (workbook: Workbook, sheet: SheetFacts) => AsyncIterable<SheetRow>;

function scan({ zip }: Workbook, { part }: SheetFacts): AsyncGenerator<SheetRow, void, undefined> {
  return scanSheet(decodeText(zip.open(part)));
}

function parse(workbook: Workbook, sheet: SheetFacts): AsyncGenerator<SheetRow, void, undefined> {
  return readSheet(workbook, sheet);
}

/** A sheet, or why it cannot be read. */
type Read<Content> = { content: Content } | { fault: string };
type ReadTable = { table: CollectedTable; chain: BalanceChain };
/** The sheets' content; `unknown`: titles of those that no figures are known of. */
type ReadWorkbook = { summary: Read<CollectedSummary>; tables: Map<TableName, Read<ReadTable>>; unknown: string[] };

async function readWorkbook(work: ReportWork<AnyPlan>, source: ByteSource, read: Reader): Promise<ReadWorkbook> {
  const workbook = await openWorkbook(source, ZIP_LIMITS).catch((error: unknown) => {
    if (error instanceof UnreadableFileError) throw new ReadBackError([{ sheet: '', text: error.message }]);
    throw error;
  });
  const { texts } = work.rendering;
  const rowsOf = (sheet: SheetFacts) => untilAborted(read(workbook, sheet), work.signal);
  const tables: ReadWorkbook['tables'] = new Map();
  const summary = await orFault(async () => {
    const sheet = workbook.sheets.find((one) => one.title === nameSummary(work));
    if (!sheet) throw new UnreadableFileError(MISSING);
    return await collectSummary(rowsOf(sheet), texts);
  });
  for (const name of Object.keys(COLUMNS) as TableName[]) {
    const parts = workbook.sheets.filter((sheet) => isPartOf(sheet, texts.sheets[name], texts.notes.part));
    if (parts.length === 0) continue;
    tables.set(name, await orFault(() => readTable(name, parts.map(rowsOf), work)));
  }
  return { summary, tables, unknown: listUnknown(work, workbook) };
}

/** Reads the parts of a table, and follows the running balance of *Extrato* over them. */
async function readTable(
  name: TableName,
  parts: AsyncIterable<SheetRow>[],
  work: ReportWork<AnyPlan>,
): Promise<ReadTable> {
  const table = startTable();
  const chain: BalanceChain = { cents: sumOpening(work), brokenAt: undefined };
  for (const rows of parts)
    await collectTable(
      rows,
      { columns: COLUMNS[name], texts: work.rendering.texts },
      table,
      name === 'statement' ? chain : undefined,
    );
  return { table, chain };
}

/** Pure. */
function compareWorkbook(work: ReportWork<AnyPlan>, found: ReadWorkbook, expected: ExpectedFigures): SheetFault[] {
  const faults = compareRead(nameSummary(work), found.summary, (title, summary) =>
    compareSummary(title, summary, expected),
  );
  for (const sheet of found.unknown) faults.push({ sheet, text: 'nothing is known of this sheet' });
  for (const [name, figures] of Object.entries(expected.tables) as [TableName, SheetFigures][]) {
    const read = found.tables.get(name) ?? { fault: MISSING };
    const compared = compareRead(work.rendering.texts.sheets[name], read, (title, { table, chain }) => [
      ...compareTable(title, table, figures),
      ...(name === 'statement' ? compareChain(title, chain, expected.total.closing) : []),
    ]);
    append(faults, compared);
  }
  return faults;
}

function compareRead<Content>(
  sheet: string,
  read: Read<Content>,
  compare: (sheet: string, content: Content) => SheetFault[],
): SheetFault[] {
  return 'fault' in read ? [{ sheet, text: read.fault }] : compare(sheet, read.content);
}

/** Runs `read`; a sheet that cannot be read is a fault, and the others are read all the same. */
async function orFault<Content>(read: () => Promise<Content>): Promise<Read<Content>> {
  try {
    return { content: await read() };
  } catch (error) {
    if (error instanceof UnreadableFileError) return { fault: error.message };
    throw error;
  }
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

/** Titles of sheets that no figures are known of. */
function listUnknown(work: ReportWork<AnyPlan>, { sheets }: Workbook): string[] {
  const { texts } = work.rendering;
  const titles = (Object.keys(COLUMNS) as TableName[]).map((name) => texts.sheets[name]);
  return sheets
    .map((one) => one.title)
    .filter(
      (title) => title !== nameSummary(work) && !titles.some((one) => isPartOf({ title }, one, texts.notes.part)),
    );
}

function nameSummary({ plan, rendering: { texts } }: ReportWork<AnyPlan>): string {
  return 'days' in plan ? texts.period.sheet : texts.sheets.summary;
}

/** `Extrato`, `Extrato (2)`. */
function isPartOf({ title: own }: Pick<SheetFacts, 'title'>, title: string, suffix: string): boolean {
  if (own === title) return true;
  const [before = '', after = ''] = suffix.split('{part}');
  const number = own.slice(title.length + before.length, own.length - after.length);
  return /^[1-9]\d{0,5}$/.test(number) && own === title + fill(suffix, { part: number });
}
