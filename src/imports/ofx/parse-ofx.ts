/**
 * Parses the bank statements of an OFX file. It takes a file as a whole or not at all: all faults of its content are
 * returned at once, each with its line. Nothing is rounded and nothing is assumed: a second value, an amount with three
 * decimals or another currency is a fault.
 *
 * Three deviations of Brazilian banks are accepted: a decimal comma, a date of zeros where the date is optional, and the rows
 * of Banco do Brasil that show a balance (`Saldo Anterior`, without a FITID) and are no transactions.
 */
import { type Day, isDay } from '../../domain/calendar.ts';
import { parseSignedAmount } from '../../domain/money.ts';
import type { BankStatement, StatementLine } from '../../ledger/bank/bank-statement.ts';
import { mapInTurns, takeTurn } from '../../runtime/take-turns.ts';
import type { OfxFault } from './ofx-faults.ts';
import { MalformedOfx, type OfxElement, readOfxElements } from './read-ofx-elements.ts';

/** Of all statements of a file: they are inserted in one database transaction. */
export const OFX_LINES_MAX = 20_000;
const FAULTS_MAX = 50;
/** In characters, as the columns allow. */
export const LENGTHS_MAX = {
  BANKID: 32,
  BRANCHID: 32,
  ACCTID: 32,
  FITID: 255,
  TRNTYPE: 32,
  NAME: 255,
  MEMO: 500,
} as const;
const NUMBER_CHARS_MAX = 64;
const ACCOUNT_PART = /^[A-Za-z0-9][A-Za-z0-9 ./-]*$/;
const DATE = /^(\d{4})(\d\d)(\d\d)(?:\d{2}|\d{4}|\d{6}(?:\.\d{1,3})?)?\s*(?:\[[^[\]]{1,16}\])?$/;
const NO_DATE = /^0*$/;
const AMOUNT_CHARS_MAX = 32;
const AMOUNT = /^([+-]?)0*(\d{1,32})(?:[.,](\d{1,2}))?$/;
/** The text of a row that shows a balance and is no transaction: `Saldo Anterior`, `*** S A L D O ***`. */
export const BALANCE_ROW = /^[^\p{L}]*s\s*a\s*l\s*d\s*o(?!\p{L})/iu;
/** The BANKID of files that Confere writes. */
const OWN_BANK = 'CONFERE';

/** Returns the statements of a file, or what is wrong with it. It is read in turns with others. */
export async function parseOfx(bytes: Uint8Array): Promise<{ statements: BankStatement[]; faults: OfxFault[] }> {
  const faults: OfxFault[] = [];
  try {
    await takeTurn();
    const found = findStatements(await readOfxElements(bytes), faults);
    const statements: BankStatement[] = [];
    for (const one of found) statements.push(await parseStatement(one, faults));
    findRepeated(statements, faults);
    return { statements: faults.length > 0 ? [] : statements, faults: faults.slice(0, FAULTS_MAX) };
  } catch (error) {
    if (!(error instanceof MalformedOfx)) throw error;
    return { statements: [], faults: [error.fault] };
  }
}

function findStatements(ofx: OfxElement, faults: OfxFault[]): OfxElement[] {
  const answers = childrenOf(ofx, 'BANKMSGSRSV1').flatMap((one) => childrenOf(one, 'STMTTRNRS'));
  for (const answer of answers) {
    const failed = childrenOf(answer, 'STATUS').some((one) => childrenOf(one, 'SEVERITY')[0]?.text === 'ERROR');
    if (failed) faults.push({ line: answer.line, kind: 'bank_error' });
  }
  const statements = answers.flatMap((one) => childrenOf(one, 'STMTRS'));
  if (statements.length === 0 && faults.length === 0) faults.push({ line: ofx.line, kind: 'no_statement' });
  const transactions = statements.flatMap((one) => childrenOf(one, 'BANKTRANLIST').flatMap(listTransactions));
  const beyond = transactions[OFX_LINES_MAX];
  if (beyond) throw new MalformedOfx({ line: beyond.line, kind: 'too_many_lines', value: OFX_LINES_MAX });
  return statements;
}

async function parseStatement(statement: OfxElement, faults: OfxFault[]): Promise<BankStatement> {
  const [at, read] = [statement.line, createReader(statement, faults)];
  if (read.text('CURDEF').toUpperCase() !== 'BRL') faults.push({ line: at, kind: 'no_brl', value: 'CURDEF' });
  const owner = read.inner('BANKACCTFROM');
  const list = read.inner('BANKTRANLIST', { optional: true });
  const balance = read.inner('LEDGERBAL', { optional: true });
  const span = list && createReader(list, faults);
  const transactions = list ? listTransactions(list) : [];
  const movements = transactions.filter((one) => !isBalanceRow(one));
  return {
    account: owner ? parseAccount(owner, faults) : '',
    from: span?.optionalDay('DTSTART') ?? null,
    to: span?.optionalDay('DTEND') ?? null,
    balance: balance ? parseBalance(balance, faults) : null,
    lines: await mapInTurns(movements, (one) => parseTransaction(one, faults)),
    balanceRows: transactions.length - movements.length,
  };
}

function listTransactions(list: OfxElement): OfxElement[] {
  return childrenOf(list, 'STMTTRN');
}

function parseAccount(owner: OfxElement, faults: OfxFault[]): string {
  const read = createReader(owner, faults);
  const parts = (['BANKID', 'BRANCHID', 'ACCTID'] as const).flatMap((name) => {
    const optional = name === 'BRANCHID';
    const text = read.text(name, { max: LENGTHS_MAX[name], optional });
    if (text !== '' && !ACCOUNT_PART.test(text)) faults.push({ line: owner.line, kind: 'no_account', value: name });
    return text === '' ? [] : [text];
  });
  if (parts[0] === OWN_BANK) faults.push({ line: owner.line, kind: 'own_file' });
  return parts.join('/');
}

/** Whether a text is an account as `parseAccount` names it, of another bank than Confere's own files. */
export function isBankAccount(text: string): boolean {
  const parts = text.split('/');
  return parts.length > 1 && parts.every((part) => ACCOUNT_PART.test(part)) && parts[0] !== OWN_BANK;
}

function parseBalance(balance: OfxElement, faults: OfxFault[]): BankStatement['balance'] {
  const read = createReader(balance, faults);
  const cents = read.amount('BALAMT');
  const day = read.optionalDay('DTASOF');
  return day === null ? null : { cents, day };
}

function isBalanceRow(transaction: OfxElement): boolean {
  const first = (name: string): string => childrenOf(transaction, name)[0]?.text ?? '';
  return first('FITID') === '' && BALANCE_ROW.test(first('MEMO') || first('NAME'));
}

function parseTransaction(transaction: OfxElement, faults: OfxFault[]): StatementLine {
  const { line } = transaction;
  const read = createReader(transaction, faults);
  if (read.text('CORRECTFITID', { optional: true }) !== '') faults.push({ line, kind: 'corrects' });
  const currency = read.inner('CURRENCY', { optional: true });
  const isForeign = currency && createReader(currency, faults).text('CURSYM').toUpperCase() !== 'BRL';
  if (isForeign) faults.push({ line, kind: 'no_brl', value: 'CURSYM' });
  const optional = true;
  return {
    line,
    fitid: read.text('FITID', { max: LENGTHS_MAX.FITID }),
    day: read.day('DTPOSTED'),
    cents: read.amount('TRNAMT'),
    type: read.text('TRNTYPE', { max: LENGTHS_MAX.TRNTYPE, optional }),
    name: read.text('NAME', { max: LENGTHS_MAX.NAME, optional }),
    memo: read.text('MEMO', { max: LENGTHS_MAX.MEMO, optional }),
    checkNumber: read.text('CHECKNUM', { max: NUMBER_CHARS_MAX, optional }),
    referenceNumber: read.text('REFNUM', { max: NUMBER_CHARS_MAX, optional }),
  };
}

/** Reads the elements in another one, each at most once, and adds what is wrong with them to the faults. */
function createReader(element: OfxElement, faults: OfxFault[]) {
  const { line } = element;
  function inner(name: string, { optional = false } = {}): OfxElement | undefined {
    const [first, second] = childrenOf(element, name);
    if (second) faults.push({ line: second.line, kind: 'twice', value: name });
    if (!first && !optional) faults.push({ line, kind: 'missing', value: name });
    return first;
  }
  function text(name: string, { max = Number.POSITIVE_INFINITY, optional = false } = {}): string {
    const found = inner(name, { optional });
    const value = found?.text ?? '';
    if (found && value === '' && !optional) faults.push({ line: found.line, kind: 'missing', value: name });
    if (value.length > max) faults.push({ line: found?.line ?? line, kind: 'too_long', value: name });
    return value;
  }
  function parseDate(name: string, value: string): Day {
    const parsed = parseDay(value);
    if (parsed === undefined) faults.push({ line, kind: 'no_day', value: name });
    return parsed ?? '';
  }
  return {
    inner,
    text,
    day(name: string): Day {
      const value = text(name);
      return value === '' ? '' : parseDate(name, value);
    },
    optionalDay(name: string): Day | null {
      const value = text(name, { optional: true });
      return NO_DATE.test(value.slice(0, 'YYYYMMDD'.length)) ? null : parseDate(name, value);
    },
    amount(name: string): bigint {
      const value = text(name);
      const cents = parseOfxAmount(value);
      if (value !== '' && cents === undefined) faults.push({ line, kind: 'no_amount', value: name });
      return cents ?? 0n;
    },
  };
}

function childrenOf(element: OfxElement, name: string): OfxElement[] {
  return element.children.filter((one) => one.name === name);
}

function parseDay(text: string): Day | undefined {
  const [, year, month, date] = DATE.exec(text) ?? [];
  const day = `${year}-${month}-${date}`;
  return isDay(day) ? day : undefined;
}

/** `1234.56`, `-1234,56`, `+12`, `-0012.3`: undefined for more than two decimals, grouping, or an amount beyond our limit. */
export function parseOfxAmount(text: string): bigint | undefined {
  const [, sign, whole, fraction] = AMOUNT.exec(text.slice(0, AMOUNT_CHARS_MAX + 1)) ?? [];
  if (whole === undefined || text.length > AMOUNT_CHARS_MAX) return undefined;
  return parseSignedAmount(`${sign === '-' ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`);
}

/** Two transactions of an account with one FITID: a bank's mistake, which would lose one of them. */
function findRepeated(statements: BankStatement[], faults: OfxFault[]): void {
  const seen = new Map<string, number>();
  for (const { account, lines } of statements) {
    for (const { fitid, line } of lines) {
      const key = JSON.stringify([account, fitid]);
      const first = seen.get(key);
      if (first !== undefined && fitid !== '') faults.push({ line, kind: 'repeated', value: first });
      else seen.set(key, line);
    }
  }
}
