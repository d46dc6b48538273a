import { fold } from '../../../imports/columns.ts';
import { isSideColumn } from '../../../imports/read-bank-csv.ts';
import { decodeCsv } from '../../../imports/read-table.ts';
import type { BankAccountFacts } from '../../../ledger/stated/bank-accounts.ts';
import type { BankCsv, CsvPart } from '../../../ledger/stated/check-bank-csv.ts';
import { parseCsv } from '../../../spreadsheet/parse-csv.ts';

/** Words of titles, folded; the first part that fits is suggested. */
const WORDS: [part: CsvPart, words: string[]][] = [
  ['side', ['d/c', 'c/d', 'debito/credito', 'credito/debito']],
  ['in', ['credito', 'entrada']],
  ['out', ['debito', 'saida']],
  ['balance', ['saldo']],
  ['day', ['data', 'dia']],
  ['amount', ['valor']],
  ['number', ['documento', 'docto', 'doc']],
  ['text', ['descricao', 'historico', 'lancamento', 'detalhe']],
];
const DAYS: [form: BankCsv['days'], pattern: RegExp][] = [
  ['dd/mm/yyyy', /^\d\d\/\d\d\/\d{4}/],
  ['dd/mm/yy', /^\d\d\/\d\d\/\d\d/],
  ['dd-mm-yyyy', /^\d\d-\d\d-\d{4}/],
  ['dd.mm.yyyy', /^\d\d\.\d\d\.\d{4}/],
  ['yyyy-mm-dd', /^\d{4}-\d\d-\d\d/],
];

/**
 * Suggests what the columns of a bank's CSV are, by words of their titles and by the first rows: fields of the form, which a
 * person checks and confirms. Pure.
 */
export function suggestColumns(titles: string[], rows: string[][]): Map<string, string> {
  const fields = new Map<string, string>();
  const taken = new Map<CsvPart, number>();
  for (const [index, title] of titles.entries()) {
    const folded = fold(title);
    const isSide = isSideColumn(rows.map((cells) => cells[index]?.trim() ?? ''));
    const part = isSide ? 'side' : WORDS.find(([, words]) => words.some((word) => folded.includes(word)))?.[0];
    if (part === undefined || (part !== 'text' && taken.has(part))) continue;
    taken.set(part, index);
    fields.set(`part_${index}`, part);
  }
  // amounts in two columns say it already
  if (taken.has('in') && taken.has('out')) fields.delete(`part_${taken.get('side')}`);
  const valuesOf = (part: CsvPart): string[] => {
    const column = taken.get(part);
    return column === undefined ? [] : rows.map((cells) => cells[column]?.trim() ?? '').filter(Boolean);
  };
  const [first = ''] = valuesOf('day');
  const days = DAYS.find(([, pattern]) => pattern.test(first))?.[0];
  const amounts = [...valuesOf('amount'), ...valuesOf('in'), ...valuesOf('out')];
  const isComma = amounts.length > 0 && amounts.every((one) => /,\d\d\D{0,3}$/.test(one));
  if (days !== undefined) fields.set('days', days);
  if (isComma) fields.set('decimals', 'comma');
  return fields.set('signs', 'as_written');
}

const ACCOUNT_TITLE = /\bconta\b/;
const BRANCH_TITLE = /\b(?:agencia|cooperativa)\b/;
const CELLS_MAX = 100;
const CELL_CHARS_MAX = 120;
/** Fewer digits may be the end of any account's number. */
const DIGITS_MIN = 4;

const HEAD_ROWS_MAX = 30;

/** Suggests which of the accounts with a file's columns it is of: the only one, or that which its first rows name; else none. */
export function suggestMapped(bytes: Buffer, mapped: BankAccountFacts[]): string {
  const [first, ...more] = mapped;
  if (!first?.csv || more.length === 0) return first?.account ?? '';
  const rows: string[][] = [];
  for (const { cells } of parseCsv(decodeCsv(bytes), first.csv.separator))
    if (rows.push(cells.map((one) => one?.text ?? '')) === HEAD_ROWS_MAX) break;
  const found = suggestAccount(
    rows,
    mapped.map(({ account }) => account),
  );
  return found.account ?? '';
}

/**
 * Suggests whose account a bank's CSV is, by the lines above its header: `account`, the one of `known` that ends in the number;
 * else `other_account`, what the lines say, which lacks the bank. Nothing where they name no number, or two. Pure.
 */
export function suggestAccount(above: string[][], known: string[]): Record<string, string> {
  const cells = above
    .flatMap((row) => row.flatMap((cell) => cell.split(':', 2)))
    .map((cell) => cell.slice(0, CELL_CHARS_MAX).trim())
    .filter(Boolean)
    .slice(0, CELLS_MAX);
  const numberAfter = (title: RegExp): string | undefined => {
    const values = cells.filter(
      (cell, index) => /^\d[\d. -]*[\dxX]$/.test(cell) && title.test(fold(cells[index - 1] ?? '')),
    );
    return new Set(values).size === 1 ? values[0] : undefined;
  };
  const [number, branch] = [numberAfter(ACCOUNT_TITLE), numberAfter(BRANCH_TITLE)];
  const digits = number && digitsOf(number);
  if (number === undefined || !digits || digits.length < DIGITS_MIN) return {};
  const [account, ...more] = known.filter((one) => digitsOf(one).endsWith(digits));
  if (account !== undefined) return more.length === 0 ? { account } : {};
  return { other_account: `/${branch === undefined ? '' : `${branch}/`}${number}` };
}

function digitsOf(text: string): string {
  return text.replaceAll(/[^\dxX]/g, '').replace(/^0+/, '');
}
