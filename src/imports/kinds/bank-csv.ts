/** A CSV of the bank's own, read by the columns that a person mapped for its account. */
import { createHash } from 'node:crypto';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { BALANCE_BEFORE, type BankStatement } from '../../ledger/bank/statement/bank-statement.ts';
import { type BankAccountFacts, readBankAccounts } from '../../ledger/stated/bank-accounts.ts';
import type { BankCsv } from '../../ledger/stated/check-bank-csv.ts';
import type { Column } from '../columns.ts';
import { readValues } from '../define-table.ts';
import { OFX_BYTES_MAX } from '../ofx/read-ofx-elements.ts';
import {
  type BalanceRow,
  type Beside,
  findUnreadSide,
  hasBankCsvHeader,
  shapeBankCsv,
  UNREADABLE,
} from '../read-bank-csv.ts';
import { LARGE_TABLE_LIMITS } from '../read-table.ts';
import { type BankRow, COLUMNS, toStatement, toValue } from './bank-table.ts';

/** The columns of the template that a CSV of a bank has. */
const CSV_COLUMNS = {
  day: COLUMNS.day,
  amount: askedColumn(COLUMNS.amount, 'csv_amount', ''),
  text: COLUMNS.text,
  number: COLUMNS.number,
  identifier: COLUMNS.identifier,
  balance: askedColumn(COLUMNS.balance, 'csv_amount', ''),
};

/**
 * Reads a CSV of the bank's own, whose columns are known.
 * @returns `read` undefined: it has no header that is known; `isMapped`: the account has columns, of another header.
 */
export async function readForeign(db: Reader, bytes: Buffer, given: string | undefined) {
  const known = await readBankAccounts(db);
  const account = given ?? (await findImportedAccount(db, bytes));
  if (account === undefined) {
    const isKnown = (await listMappedAccounts(db, bytes)).length > 0;
    const fault = { row: 0, column: null, of: 'statement', kind: 'csv_account' } as const;
    return { isMapped: false, ...(isKnown ? { read: { rows: [], faults: [fault], leftOut: [] } } : {}) };
  }
  const csv = known.get(account)?.csv;
  const isOwn = csv && hasBankCsvHeader(bytes, csv);
  return { isMapped: Boolean(csv), ...(isOwn ? { read: await readBankCsv(bytes, account, csv) } : {}) };
}

/** The account that these bytes were imported for. */
async function findImportedAccount(db: Reader, bytes: Buffer): Promise<string | undefined> {
  const sha256 = createHash('sha256').update(bytes).digest();
  const select = db.selectFrom('bank_statements').select('account').where('sha256', '=', sha256);
  return (await select.executeTakeFirst())?.account;
}

/** Lists the accounts whose columns have the titles of a file. */
export async function listMappedAccounts(db: Reader, bytes: Buffer): Promise<BankAccountFacts[]> {
  const known = [...(await readBankAccounts(db)).values()];
  return known.filter(({ csv }) => csv !== null && hasBankCsvHeader(bytes, csv));
}

/** Reads the lines of a CSV of an account's bank by its columns. */
export async function readBankCsv(bytes: Buffer, account: string, csv: BankCsv) {
  const beside: Beside = { balances: [], words: new Map() };
  const columns = { ...CSV_COLUMNS, day: askedColumn(COLUMNS.day, 'csv_day', csv.days) };
  const { rows, faults, leftOut } = await readValues(
    bytes,
    {
      columns,
      limits: { ...LARGE_TABLE_LIMITS, bytesMax: OFX_BYTES_MAX },
      toValue: (row) => toValue({ ...row, account, side: null, new_account: null }),
    },
    (text) => shapeBankCsv(text, csv, (field) => columns[field].titles['pt-BR'], beside),
  );
  const { balances, words } = beside;
  const unread = findUnreadSide(csv, words);
  if (unread !== undefined) faults.push({ row: 0, column: null, kind: 'csv_side', value: unread });
  const made = rows.length === 0 ? [] : [{ number: rows[0]?.number ?? 0, value: toStatement(rows) }];
  for (const { value } of made) {
    const { statement } = value;
    const balance = findLastBalance(rows);
    if (balance === 'unclear') faults.push({ row: 0, column: null, kind: 'csv_balance' });
    else statement.balance = balance;
    const shown = [rows.some(({ value: row }) => row.balance !== null), balances.some(isOfEnd)];
    statement.isBalanceUnclear = statement.balance === null && shown.includes(true);
    statement.balanceRows = balances.map(({ line, day, cents, text }) => ({
      ...{ line, day, cents, memo: text, fitid: '', type: '', name: '', checkNumber: '', referenceNumber: '' },
    }));
    // balances after each row differ within a day
    value.rows = rows.map((row) => ({ ...row, value: { ...row.value, balance: null } }));
  }
  return { rows: made, count: rows.length + balances.length, faults, leftOut };
}

/**
 * The balance after the last row in time: each balance is the one before and the amounts since, from the first row or from the last.
 * null: there is none, or it has two readings; `unclear`: the amounts do not make them.
 */
function findLastBalance(rows: BankRow[]): BankStatement['balance'] | 'unclear' {
  if (rows.every(({ value }) => value.balance === null)) return null;
  const [first, other = first] = [rows, rows.toReversed()].filter(isChain).map((order) => {
    const at = order.findLastIndex(({ value }) => value.balance !== null);
    const [row, later] = [order[at], order[at + 1]];
    // it lacks lines of its day that follow
    if (!row || row.value.balance === null || later?.value.day === row.value.day) return null;
    return { cents: row.value.balance, day: row.value.day, line: row.number };
  });
  if (first === undefined) return 'unclear';
  return first?.cents === other?.cents ? first : null;
}

function isOfEnd({ text }: BalanceRow): boolean {
  return !BALANCE_BEFORE.test(text);
}

function isChain(rows: BankRow[]): boolean {
  let [expected, days]: [bigint | undefined, Day] = [undefined, ''];
  return rows.every(({ value: { balance, cents, day } }) => {
    if (expected !== undefined) expected += cents;
    const fits = (balance === null || expected === undefined || balance === expected) && day >= days;
    if (balance !== null) expected = balance;
    days = day;
    return fits;
  });
}

/** A column of the template, of which a value is not written as the columns of the bank say. */
function askedColumn<Value>(column: Column<Value>, kind: 'csv_day' | 'csv_amount', value: string): Column<Value> {
  return {
    ...column,
    parse: (cell, given) => (cell.text === UNREADABLE ? { fault: { kind, value } } : column.parse(cell, given)),
  };
}
