/**
 * Lines of the company's bank account: an OFX, or a table where the bank gives none. Those of a table are stored and matched as
 * the lines of an OFX are. A line with an identifier is known again by it; one without by its day, amount and texts, so that a
 * file has whole days.
 */
import type { Context } from '../../context.ts';
import { importBankFile, UNCHANGED } from '../../ledger/bank/import-bank-file.ts';
import type { BankAnswers, StatementFault } from '../../ledger/bank/statement/statement-faults.ts';
import { isBankAccount } from '../../ledger/stated/bank-accounts.ts';
import { readValues } from '../define-table.ts';
import type { ImportFault, ImportKind } from '../import-kind.ts';
import { parseOfx } from '../ofx/parse-ofx.ts';
import { isOfx, OFX_BYTES_MAX, type OfxFault } from '../ofx/read-ofx-elements.ts';
import { readForeign } from './bank-csv.ts';
import { QUESTIONS } from './bank-questions.ts';
import { type BankRow, COLUMNS, type GivenStatement, toStatement, toValue } from './bank-table.ts';

export const BANK: ImportKind<GivenStatement> = {
  titles: { 'pt-BR': 'Extrato bancário', en: 'Bank statement' },
  roles: ['accountant'],
  columns: COLUMNS,
  bytesMax: OFX_BYTES_MAX,
  questions: QUESTIONS,
  unchanged: { bank: UNCHANGED },
  async read({ db }, bytes, answers) {
    if (answers?.account !== undefined && !isBankAccount(answers.account))
      return { rows: [], count: 0, faults: [{ row: 0, column: null, kind: 'not_account' }], leftOut: [] };
    if (isOfx(bytes)) {
      const { statements, faults } = await parseOfx(bytes);
      const count = statements.reduce((sum, one) => sum + [one.lines, one.balanceRows, one.openRows].flat().length, 0);
      const rows = statements.map((statement, index) => ({ number: index + 1, value: { statement } }));
      return { rows, count, faults: faults.map(ofxFault), leftOut: [] };
    }
    const foreign = answers && (await readForeign(db, bytes, answers.account));
    if (foreign?.read) return foreign.read;
    const { rows, faults: found, leftOut } = await readValues(bytes, { columns: COLUMNS, toValue });
    const isOther = foreign?.isMapped && found.some(({ kind }) => kind === 'header');
    const faults: ImportFault[] = isOther ? [{ row: 0, column: null, kind: 'csv_header' }] : found;
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

function ofxFault(fault: OfxFault): ImportFault {
  return { row: 0, column: null, of: 'ofx', ...fault };
}

function findDaysToCome({ calendar, clock }: Context, rows: BankRow[]): ImportFault[] {
  const today = calendar.dayOf(clock.now());
  return rows
    .filter(({ value }) => value.day > today)
    .map(({ number: row }) => ({ row, column: 'day', kind: 'day_to_come' }));
}

/** Identifiers of an account that are there twice, and balances of a day that differ. */
function findRepeated(rows: BankRow[]): ImportFault[] {
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

/** The column that a fault of a table is about. */
const COLUMN_OF: Partial<Record<StatementFault['kind'], keyof typeof COLUMNS>> = {
  spelled: 'account',
  new_account: 'account',
  many_accounts: 'account',
  no_signs: 'amount',
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
