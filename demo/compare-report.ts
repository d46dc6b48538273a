import ExcelJS from 'exceljs';
import { formatAmount, parseSum } from '../src/domain/money.ts';
import type { Api } from './start-programs.ts';

type Books = { days: Record<string, string>[] };

/** Sheets, and where the sandbox's own books say the same. */
const TOTALS = [
  { sheet: 'Recebimentos', book: 'receipts' },
  { sheet: 'Pagamentos', book: 'payments' },
] as const;

/** The day's workbook, read by a library of others, beside the sandbox's own totals of that day. */
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

/** The column of amounts, added up row by row: not the sheet's own total. */
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
    // a cell holds a binary number: its two decimals are what was written
    if (typeof value === 'number') sum += BigInt(Math.round(value * 100));
  });
  return sum;
}
