/** The template of the bank's lines: its columns, and the statement that rows of it make. */
import type { Day } from '../../domain/calendar.ts';
import type { BankStatement, StatementLine } from '../../ledger/bank/statement/bank-statement.ts';
import { BANK_ACCOUNT_CHARS_MAX, isBankAccount } from '../../ledger/stated/bank-accounts.ts';
import { beginsAsBalance, beginsAsTotal, isBalanceText, isTotalText } from '../balance-texts.ts';
import { choiceColumn, dayColumn, flagColumn, moneyColumn, textColumn, writtenColumn } from '../columns.ts';
import type { RowOf } from '../define-table.ts';
import type { ImportedRow } from '../import-kind.ts';
import { LENGTHS_MAX, NUMBER_CHARS_MAX } from '../ofx/parse-ofx.ts';

type Line = {
  account: string;
  day: Day;
  cents: bigint;
  text: string;
  number: string;
  identifier: string;
  balance: bigint | null;
  isNewAccount: boolean;
};
export type BankRow = ImportedRow<Line>;
/** `rows`: of a table; undefined for an OFX. */
export type GivenStatement = { statement: BankStatement; rows?: BankRow[] };

export const COLUMNS = {
  account: textColumn({
    titles: { 'pt-BR': 'conta', en: 'account' },
    isRequired: true,
    charsMax: BANK_ACCOUNT_CHARS_MAX,
    check: (text) => (isBankAccount(text) ? undefined : { kind: 'not_account' }),
    example: '341/1234/56789-0',
  }),
  day: dayColumn({ titles: { 'pt-BR': 'dia', en: 'day' }, isRequired: true, example: '2026-11-20' }),
  amount: writtenColumn({ titles: { 'pt-BR': 'valor', en: 'amount' }, isRequired: true, example: '-12.34' }),
  side: choiceColumn({
    titles: { 'pt-BR': 'D/C', en: 'D/C' },
    isWhole: true,
    words: { D: { 'pt-BR': 'débito', en: 'debit' }, C: { 'pt-BR': 'crédito', en: 'credit' } },
    example: '',
  }),
  text: textColumn({
    titles: { 'pt-BR': 'texto', en: 'text' },
    charsMax: LENGTHS_MAX.MEMO,
    example: 'TED RECEBIDA CONFERE',
  }),
  number: textColumn({
    titles: { 'pt-BR': 'número do documento', en: 'document number' },
    charsMax: NUMBER_CHARS_MAX,
    example: '000045107',
  }),
  identifier: textColumn({
    titles: { 'pt-BR': 'identificador', en: 'identifier' },
    charsMax: LENGTHS_MAX.FITID,
    example: '',
  }),
  balance: moneyColumn({
    titles: { 'pt-BR': 'saldo no fim do dia', en: 'balance at the end of the day' },
    example: '',
  }),
  new_account: flagColumn({ titles: { 'pt-BR': 'conta nova', en: 'new account' }, example: 'sim' }),
};

/** The line of a row, or its fault. */
export function toValue({
  account,
  day,
  amount,
  side,
  text,
  number,
  identifier,
  balance,
  new_account,
}: RowOf<typeof COLUMNS>) {
  if (account === null || day === null || amount === null) return undefined;
  if (side !== null && amount.isSigned) return { fault: { column: 'amount', kind: 'sign_twice' as const } };
  if (isBalanceText(text ?? '')) return { fault: { column: 'text', kind: 'balance_row' as const } };
  const texts = { text: text ?? '', number: number ?? '', identifier: identifier ?? '' };
  return {
    value: {
      account,
      day,
      cents: side === 'D' ? -amount.cents : amount.cents,
      ...texts,
      balance,
      isNewAccount: new_account ?? false,
    },
  };
}

/** The statement of an account: its balance is the newest one of the rows. */
export function toStatement(rows: BankRow[]): GivenStatement {
  const days = rows.map(({ value }) => value.day).sort();
  const [newest] = rows
    .filter(({ value }) => value.balance !== null)
    .sort((a, b) => (a.value.day < b.value.day ? 1 : -1));
  const lines = rows.map(({ number: line, value: { day, cents, text, number, identifier } }) => ({
    ...{ line, day, cents, fitid: identifier, type: '', name: '', memo: text, checkNumber: number },
    referenceNumber: '',
  }));
  const isOpen = createOpenRows();
  const { open = [], plain = [] } = Object.groupBy(lines, (line) => (isOpen(line) ? 'open' : 'plain'));
  const statement: BankStatement = {
    ...{ source: 'table', line: rows[0]?.number ?? 0, account: rows[0]?.value.account ?? '', missing: [] },
    isNewAccount: rows.some(({ value }) => value.isNewAccount),
    ...{ hasCurrency: true, isWhole: { balance: false, lines: false }, lines: plain, balanceRows: [], openRows: open },
    from: days[0] ?? null,
    to: days.at(-1) ?? null,
    balance: newest ? { cents: newest.value.balance ?? 0n, day: newest.value.day, line: newest.number } : null,
  };
  return { statement, rows };
}

/** Returns a function that says of each row, in turn, whether it may show a balance, or the total of the rows before it. */
function createOpenRows(): (line: StatementLine) => boolean {
  let [gained, spent] = [0n, 0n];
  return ({ cents, memo, checkNumber }) => {
    const text = memo || checkNumber;
    const sums = [gained, spent, gained + spent, gained - spent];
    const isSum = sums.some((sum) => sum === cents || sum === -cents);
    if (beginsAsBalance(text) || isTotalText(text) || (beginsAsTotal(text) && isSum)) return true;
    if (cents > 0n) gained += cents;
    else spent -= cents;
    return false;
  };
}
