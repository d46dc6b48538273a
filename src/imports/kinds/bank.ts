/**
 * Lines of the company's bank account: an OFX, or a table where the bank gives none. Those of a table are stored and matched as
 * the lines of an OFX are. A line with an identifier is known again by it; one without by its day, amount and texts, so that a
 * file has whole days.
 */
import type { Context } from '../../context.ts';
import type { Day } from '../../domain/calendar.ts';
import type { BankStatement, StatementLine } from '../../ledger/bank/bank-statement.ts';
import { importBankFile, UNCHANGED } from '../../ledger/bank/import-bank-file.ts';
import type { BankAnswers, StatementFault } from '../../ledger/bank/statement-faults.ts';
import { BANK_ACCOUNT_CHARS_MAX, isBankAccount } from '../../ledger/stated/bank-accounts.ts';
import { beginsAsBalance, beginsAsTotal, isBalanceText, isTotalText } from '../balance-texts.ts';
import { choiceColumn, dayColumn, flagColumn, moneyColumn, textColumn, writtenColumn } from '../columns.ts';
import { type RowOf, readValues } from '../define-table.ts';
import type { ImportedRow, ImportFault, ImportKind } from '../import-kind.ts';
import { LENGTHS_MAX, parseOfx } from '../ofx/parse-ofx.ts';
import { isOfx, OFX_BYTES_MAX, type OfxFault } from '../ofx/read-ofx-elements.ts';
import { QUESTIONS } from './bank-questions.ts';

const NUMBER_CHARS_MAX = 64;

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
type Row = ImportedRow<Line>;
/** `rows`: of a table; undefined for an OFX. */
type Given = { statement: BankStatement; rows?: Row[] };

const COLUMNS = {
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

export const BANK: ImportKind<Given> = {
  titles: { 'pt-BR': 'Extrato bancário', en: 'Bank statement' },
  roles: ['accountant'],
  columns: COLUMNS,
  bytesMax: OFX_BYTES_MAX,
  questions: QUESTIONS,
  unchanged: { bank: UNCHANGED },
  async read(_context, bytes) {
    if (isOfx(bytes)) {
      const { statements, faults } = await parseOfx(bytes);
      const count = statements.reduce((sum, one) => sum + [one.lines, one.balanceRows, one.openRows].flat().length, 0);
      const rows = statements.map((statement, index) => ({ number: index + 1, value: { statement } }));
      return { rows, count, faults: faults.map(ofxFault), leftOut: [] };
    }
    const { rows, faults, leftOut } = await readValues(bytes, { columns: COLUMNS, toValue });
    const ofAccounts = [...Map.groupBy(rows, ({ value }) => value.account).values()];
    const made = ofAccounts.map((own) => ({ number: own[0]?.number ?? 0, value: toStatement(own) }));
    return { rows: made, count: rows.length, faults, leftOut };
  },
  async apply(inner, values, { actor, sha256, isWhole, answers }) {
    const rows = values.flatMap(({ value }) => value.rows ?? []);
    const faults = [...findDaysToCome(inner, rows), ...findRepeated(rows)];
    if (faults.length > 0) return { changed: 0, faults };
    const statements = values.map(({ value }) => value.statement);
    // `importFile` checks that each is one of its question's
    const given = answers as BankAnswers;
    if (given.account !== undefined && !isBankAccount(given.account))
      return { changed: 0, faults: [{ row: 0, column: null, kind: 'not_account' }] };
    const { faults: refused, ...bank } = await importBankFile(inner, { sha256, statements }, { actor, answers: given });
    // a row that is missing for its faults may be a stored one
    const found = refused.filter(({ kind }) => isWhole || kind !== 'partial');
    const isTable = rows.length > 0;
    return {
      changed: bank.statements.reduce((sum, one) => sum + one.new, 0),
      faults: found.map((fault) => toFault(fault, isTable)),
      bank,
    };
  },
};

function toValue({
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

function ofxFault(fault: OfxFault): ImportFault {
  return { row: 0, column: null, of: 'ofx', ...fault };
}

function findDaysToCome({ calendar, clock }: Context, rows: Row[]): ImportFault[] {
  const today = calendar.dayOf(clock.now());
  return rows
    .filter(({ value }) => value.day > today)
    .map(({ number: row }) => ({ row, column: 'day', kind: 'day_to_come' }));
}

/** Identifiers of an account that are there twice, and balances of a day that differ. */
function findRepeated(rows: Row[]): ImportFault[] {
  const [identifiers, balances] = [new Set<string>(), new Map<string, bigint>()];
  return rows.flatMap(({ number, value: { account, day, identifier, balance } }) => {
    const faults: ImportFault[] = [];
    const own = JSON.stringify([account, identifier]);
    if (identifier !== '' && identifiers.has(own))
      faults.push({ row: number, column: 'identifier', kind: 'identifier_repeated' });
    identifiers.add(own);
    const ofDay = JSON.stringify([account, day]);
    if (balance !== null && (balances.get(ofDay) ?? balance) !== balance)
      faults.push({ row: number, column: 'balance', kind: 'balance_differs' });
    if (balance !== null) balances.set(ofDay, balance);
    return faults;
  });
}

/** The statement of an account: its balance is the newest one of the rows. */
function toStatement(rows: Row[]): Given {
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

/** The column that a fault of a table is about. */
const COLUMN_OF: Partial<Record<StatementFault['kind'], keyof typeof COLUMNS>> = {
  spelled: 'account',
  new_account: 'account',
  many_accounts: 'account',
  changed: 'identifier',
  repeated: 'identifier',
  lacking: 'text',
  balance_text: 'text',
};

function toFault(statement: StatementFault, isTable: boolean): ImportFault {
  const place = isTable
    ? { row: statement.line, column: COLUMN_OF[statement.kind] ?? 'day' }
    : { row: 0, column: null };
  return { ...place, of: 'statement', ...statement };
}
