import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('./read-xlsx.py', import.meta.url));
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;

export type ReadCell = {
  value: string | number | null;
  kind: 'text' | 'number' | 'date';
  formula: string | null;
  format: string;
} | null;
export type ReadSheet = {
  title: string;
  freeze: string | null;
  filter: string | null;
  printTitles: string | null;
  landscape: boolean;
  rows: ReadCell[][];
};

/** A workbook as openpyxl reads it. */
export async function readWorkbook(file: string): Promise<ReadSheet[]> {
  const { stdout } = await run('/usr/bin/python3', [SCRIPT, file], { maxBuffer: OUTPUT_BYTES_MAX });
  return JSON.parse(stdout) as ReadSheet[];
}

/** The workbook after LibreOffice has computed every formula anew, its cached values thrown away first. */
export async function recalculate(file: string): Promise<ReadSheet[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'confere-lo-'));
  try {
    const bare = path.join(directory, 'bare.xlsx');
    const save = 'import openpyxl, sys; openpyxl.load_workbook(sys.argv[1]).save(sys.argv[2])';
    await run('/usr/bin/python3', ['-c', save, file, bare]);
    const out = path.join(directory, 'out');
    const profile = `-env:UserInstallation=file://${directory}/profile`;
    await run('soffice', [profile, '--headless', '--norestore', '--convert-to', 'xlsx', '--outdir', out, bare]);
    const made = path.join(out, 'bare.xlsx');
    if (!existsSync(made)) throw new Error('LibreOffice wrote no workbook');
    return await readWorkbook(made);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function hledger(args: string[]): Promise<string> {
  const env = { ...process.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' };
  const { stdout } = await run('hledger', args, { env });
  return stdout;
}

export function sheetOf(sheets: ReadSheet[], title: string): ReadSheet {
  const sheet = sheets.find((one) => one.title === title);
  if (!sheet) throw new Error(`no sheet ${title} among ${sheets.map((one) => one.title).join(', ')}`);
  return sheet;
}

/** The rows under the header, each by its header's words, without the total. */
export function rowsOf(sheet: ReadSheet): Record<string, ReadCell>[] {
  const head = sheet.rows[2]?.map((cell) => String(cell?.value ?? '')) ?? [];
  return sheet.rows
    .slice(3)
    .filter((row) => row[0] && !String(row[0].value).startsWith('Total'))
    .map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? null])));
}

/** The cells right of a label on Resumo; undefined when it is not there. */
export function lineOf(sheet: ReadSheet, label: string, nth = 0): ReadCell[] | undefined {
  return sheet.rows.filter((row) => row[0]?.value === label)[nth]?.slice(1);
}

export function centsOf(cell: ReadCell | undefined): bigint {
  return BigInt(Math.round(Number(cell?.value ?? 0) * 100));
}

export function sumCents(cells: (ReadCell | undefined)[]): bigint {
  return cells.reduce((total, cell) => total + centsOf(cell), 0n);
}
