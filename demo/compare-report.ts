import ExcelJS from 'exceljs';
import { formatAmount, parseSum } from '../src/domain/money.ts';
import type { Api } from './start-programs.ts';

type Books = { days: Record<string, string>[]; total: { net: string } };

/** Sheets, and the field of the same total in the sandbox's books. */
const TOTALS = [
  { sheet: 'Recebimentos', book: 'receipts' },
  { sheet: 'Pagamentos', book: 'payments' },
] as const;

type Compared = { equal: boolean; text: string };

/**
 * Compares the day's workbook, read by exceljs, with the sandbox's totals of that day, and its closing balance with the
 * openings and all that the sandbox moved since. @param books.from the day on which the books open with `openings`.
 */
export async function compareReport(
  file: string,
  sandbox: Api,
  { from, day, openings }: { from: string; day: string; openings: string[] },
): Promise<Compared[]> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(file);
  const books = await sandbox.call<Books>('GET', `/sandbox/books?from=${day}&to=${day}`);
  const book = books.days.find((one) => one.day === day && one.platform === 'all');
  const since = await sandbox.call<Books>('GET', `/sandbox/books?from=${from}&to=${day}`);
  const moved = [...openings, since.total.net].map((text) => parseSum(text) ?? 0n);
  const expected = moved.reduce((sum, one) => sum + one, 0n);
  const sheets = TOTALS.map(({ sheet, book: name }) => {
    return compare(sheet, sumSheet(workbook, sheet), parseSum(book?.[name] ?? '0.00') ?? 0n);
  });
  return [...sheets, compare('Saldo final', readClosing(workbook), expected)];
}

function compare(name: string, ours: bigint, theirs: bigint): Compared {
  const text = `${name}: R$ ${formatAmount(ours)}; the sandbox's books: R$ ${formatAmount(theirs)}`;
  return { equal: ours === theirs, text };
}

/** The closing balance of all platforms on the sheet Resumo. */
function readClosing(workbook: ExcelJS.Workbook): bigint {
  let closing = 0n;
  workbook.getWorksheet('Resumo')?.eachRow((row) => {
    if (row.getCell(1).text !== 'Saldo final no razão') return;
    closing = BigInt(Math.round(Number(row.getCell(row.cellCount).result) * 100));
  });
  return closing;
}

/** Adds up the column of amounts row by row, without the sheet's total. */
function sumSheet(workbook: ExcelJS.Workbook, name: string): bigint {
  let column = 0;
  let sum = 0n;
  workbook.getWorksheet(name)?.eachRow((row) => {
    if (column === 0) {
      row.eachCell((cell, number) => {
        if (cell.text === 'Valor') column = number;
      });
      return;
    }
    const { value } = row.getCell(column);
    // a cell holds a binary number: rounding restores the two decimals that were written
    if (typeof value === 'number') sum += BigInt(Math.round(value * 100));
  });
  return sum;
}
