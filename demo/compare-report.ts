import ExcelJS from 'exceljs';
import { formatAmount, parseSum } from '../src/domain/money.ts';
import type { Api } from './start-programs.ts';

type Books = { days: Record<string, string>[] };

/** Sheets, and the field of the same total in the sandbox's books. */
const TOTALS = [
  { sheet: 'Recebimentos', book: 'receipts' },
  { sheet: 'Pagamentos', book: 'payments' },
] as const;

/** Compares the day's workbook, read by exceljs, with the sandbox's totals of that day. */
export async function compareReport(
  file: string,
  sandbox: Api,
  day: string,
): Promise<{ equal: boolean; text: string }[]> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(file);
  const books = await sandbox.call<Books>('GET', `/sandbox/books?from=${day}&to=${day}`);
  const book = books.days.find((one) => one.day === day && one.platform === 'all');
  return TOTALS.map(({ sheet, book: name }) => {
    const ours = sumSheet(workbook, sheet);
    const theirs = parseSum(book?.[name] ?? '0.00') ?? 0n;
    const equal = ours === theirs;
    return { equal, text: `${sheet}: R$ ${formatAmount(ours)}; the sandbox's books: R$ ${formatAmount(theirs)}` };
  });
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
