import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { temporaryDirectory } from '../../support/start-serve.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('./read-xlsx.py', import.meta.url));

export type ReadCell = {
  value: string | number | null;
  kind: 'text' | 'number' | 'date';
  formula: string | null;
  format: string;
  fill: string | null;
} | null;
type ReadCells = { cells: string; values: (string | number)[] };
/** `rows` are the first and the last row below it; `name` is a cell. */
export type ReadChart = {
  title: string;
  rows: [number, number];
  series: { name: string; categories: ReadCells; values: ReadCells }[];
};
export type ReadSheet = {
  title: string;
  freeze: string | null;
  filter: string | null;
  printTitles: string | null;
  landscape: boolean;
  charts: ReadChart[];
  rows: ReadCell[][];
};

type Reader = { child: ChildProcessByStdio<Writable, Readable, null>; asked: ((line: string) => void)[] };
let reader: Reader | undefined;

/** Reads a workbook with openpyxl. */
export async function readWorkbook(file: string): Promise<ReadSheet[]> {
  return await ask(file);
}

/** Reads the cells of one sheet, without print settings; other sheets may be large. */
export async function readValues(file: string, title: string): Promise<ReadSheet> {
  return sheetOf(await ask(`${file}\tvalues of\t${title}`), title);
}

type Hidden = { title: string; rows: number[] } | undefined;

/** Removes the cached values, lets LibreOffice compute every formula, and reads the workbook. */
export async function recalculate(file: string): Promise<ReadSheet[]> {
  return (await recalculateEach(file, [undefined]))[0] ?? [];
}

/** Does so for a workbook with the rows of a sheet hidden, for each of `hides`: in one start, which takes most of the time. */
export async function recalculateEach(file: string, hides: Hidden[]): Promise<ReadSheet[][]> {
  using home = temporaryDirectory();
  const out = path.join(home.path, 'out');
  const bare = hides.map((_, index) => path.join(home.path, `bare-${index}.xlsx`));
  for (const [index, hide] of hides.entries())
    await ask(`${file}\tsave as\t${bare[index]}${hide ? `\t${hide.title}\t${hide.rows.join(' ')}` : ''}`);
  await convert(bare, 'xlsx', out);
  const made = bare.map((one) => path.join(out, path.basename(one)));
  for (const one of made) if (!existsSync(one)) throw new Error('LibreOffice wrote no workbook');
  return await Promise.all(made.map(readWorkbook));
}

type Filled = { file: string; validations: [type: string, cells: string, formula: string][] };

/**
 * Writes values into cells of the first sheet of each workbook, and saves all with one start of LibreOffice. @returns the files,
 * and what their cells take.
 */
export async function fillIn(files: { file: string; values: Record<string, string> }[]): Promise<Filled[]> {
  const given = files.map(({ file }) => `${file}.in.xlsx`);
  const out = path.join(path.dirname(given[0] ?? ''), 'filled');
  for (const [index, { file, values }] of files.entries())
    await ask(`${file}\tfill in\t${given[index]}\t${JSON.stringify(values)}`);
  await convert(given, 'xlsx', out);
  const filled = given.map((one) => path.join(out, path.basename(one)));
  const validations = await Promise.all(filled.map((file): Promise<unknown> => ask(`${file}\tvalidations`)));
  return filled.map((file, index) => ({ file, validations: validations[index] as Filled['validations'] }));
}

/** Says that a newer version ran last. After an older one, LibreOffice tests its drawing at each start: 5 s of a processor. */
const LAST_VERSION =
  '<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/Product">' +
  '<prop oor:name="ooSetupLastVersion" oor:op="fuse"><value>99.9</value></prop></item></oor:items>';

/** Runs LibreOffice with one profile a worker, which the start of a later run removes. */
async function convert(files: string[], format: 'xlsx' | 'pdf', directory: string): Promise<void> {
  const home = `${tmpdir()}/confere-test-${process.pid}-libreoffice`;
  const settings = path.join(home, 'user', 'registrymodifications.xcu');
  mkdirSync(path.dirname(settings), { recursive: true });
  if (!existsSync(settings)) writeFileSync(settings, LAST_VERSION);
  const profile = `-env:UserInstallation=file://${home}`;
  await run('soffice', [profile, '--headless', '--norestore', '--convert-to', format, '--outdir', directory, ...files]);
}

/** Uses one Python for all workbooks of a test file: its start takes 0.4 s, reading a small workbook 0.02 s. */
async function ask(line: string): Promise<ReadSheet[]> {
  reader ??= startReader();
  const { child, asked } = reader;
  const answer = await new Promise<string>((resolve) => {
    asked.push(resolve);
    child.stdin.write(`${line}\n`);
  });
  const { sheets, error } = JSON.parse(answer) as { sheets?: ReadSheet[]; error?: string };
  if (!sheets) throw new Error(`openpyxl cannot read ${line}: ${error}`);
  return sheets;
}

/** Ends with the test process, whose end closes its input. */
function startReader(): Reader {
  const child = spawn('/usr/bin/python3', [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  const asked: Reader['asked'] = [];
  const end = (): void => {
    for (const resolve of asked.splice(0)) resolve('{"error":"the reader has ended"}');
    reader = undefined;
  };
  createInterface({ input: child.stdout }).on('line', (text) => asked.shift()?.(text));
  child.once('error', end).once('close', end);
  child.unref();
  return { child, asked };
}

export async function runHledger(args: string[]): Promise<string> {
  const env = { ...process.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' };
  const { stdout } = await run('hledger', args, { env });
  return stdout;
}

export function sheetOf(sheets: ReadSheet[], title: string): ReadSheet {
  const sheet = sheets.find((one) => one.title === title);
  if (!sheet) throw new Error(`no sheet ${title} among ${sheets.map((one) => one.title).join(', ')}`);
  return sheet;
}

/** The rows under the header, by the texts of the header, without the total. */
export function rowsOf(sheet: ReadSheet): Record<string, ReadCell>[] {
  const head = sheet.rows[2]?.map((cell) => String(cell?.value ?? '')) ?? [];
  return sheet.rows
    .slice(3)
    .filter((row) => row[0] && !String(row[0].value).startsWith('Total'))
    .map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? null])));
}

/** The cells right of a label on Resumo; undefined without such a label. */
export function lineOf(sheet: ReadSheet, label: string, nth = 0): ReadCell[] | undefined {
  return sheet.rows.filter((row) => row[0]?.value === label)[nth]?.slice(1);
}

/** The cells that a chart names, such as `'Resumo'!$C$5:$C$28`. */
export function cellsAt(sheets: ReadSheet[], reference: string): ReadCell[] {
  const [, title = '', letter = '', first, last] =
    /^'(.+)'!\$([A-Z])\$(\d+)(?::\$[A-Z]\$(\d+))?$/.exec(reference) ?? [];
  const rows = sheetOf(sheets, title).rows.slice(Number(first) - 1, Number(last ?? first));
  return rows.map((row) => row[letter.charCodeAt(0) - 65] ?? null);
}

/** Checks that a chart has the values of its cells, and stands where no cell has any. @returns the names of what it draws. */
export function checkChart(sheets: ReadSheet[], sheet: ReadSheet, chart: ReadChart): string[] {
  const [first, last] = chart.rows;
  expect(
    sheet.rows
      .slice(first - 1, last)
      .flat()
      .filter(Boolean),
  ).toEqual([]);
  return chart.series.map(({ name, categories, values }) => {
    for (const { cells, values: cached } of [categories, values]) {
      const shown = cellsAt(sheets, cells).map((cell) => (cell?.kind === 'date' ? toSerial(cell.value) : cell?.value));
      const drawn = cached.map((value, index) => (typeof shown[index] === 'number' ? Number(value) : value));
      expect([cells, drawn]).toEqual([cells, shown]);
      expect(cached.length).toBeGreaterThan(0);
    }
    return String(cellsAt(sheets, name)[0]?.value);
  });
}

/** A day as a spreadsheet counts it. */
function toSerial(day: string | number | null): number {
  return (Date.parse(`${String(day).slice(0, 10)}T00:00:00Z`) - Date.UTC(1899, 11, 30)) / 86_400_000;
}

export function centsOf(cell: ReadCell | undefined): bigint {
  return BigInt(Math.round(Number(cell?.value ?? 0) * 100));
}

/** Checks that each formula has the value that was computed again. @returns how many formulas there are. */
export function compareFormulas(sheets: ReadSheet[], again: ReadSheet[]): number {
  let formulas = 0;
  for (const sheet of sheets) {
    const other = sheetOf(again, sheet.title);
    for (const [y, row] of sheet.rows.entries()) {
      for (const [x, cell] of row.entries()) {
        if (!cell?.formula) continue;
        formulas++;
        expect(centsOf(other.rows[y]?.[x]), `${sheet.title} ${y + 1}:${x + 1} ${cell.formula}`).toBe(centsOf(cell));
      }
    }
  }
  return formulas;
}

export function sumCents(cells: (ReadCell | undefined)[]): bigint {
  return cells.reduce((total, cell) => total + centsOf(cell), 0n);
}

/** The text of each page that LibreOffice prints, on one line. */
export async function printWorkbook(file: string): Promise<string[]> {
  using home = temporaryDirectory();
  await convert([file], 'pdf', home.path);
  const pdf = path.join(home.path, `${path.basename(file, '.xlsx')}.pdf`);
  const { stdout } = await run('pdftotext', [pdf, '-']);
  return stdout.split('\f').map((page) => page.replace(/\s+/g, ' '));
}
