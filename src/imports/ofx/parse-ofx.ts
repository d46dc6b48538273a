/**
 * Parses the bank statements of an OFX file. It takes a file as a whole or not at all: all faults of its content are
 * returned at once, each with its line. Nothing is rounded and nothing is assumed: a second value, an amount of a fraction of a
 * cent or another currency is a fault. What a person has to say (src/ledger/bank/statement/settle-statement.ts) is left open.
 *
 * Deviations of Brazilian banks are accepted: a decimal comma, zeros behind the cents, a date of zeros where the date is optional,
 * and rows that show a balance (`Saldo Anterior`) and are no transactions.
 */
import type { Day } from '../../domain/calendar.ts';
import type { BankStatement, StatementLine } from '../../ledger/bank/statement/bank-statement.ts';
import { ACCOUNT_PART, OWN_BANK } from '../../ledger/stated/bank-accounts.ts';
import { mapInTurns, takeTurn } from '../../runtime/take-turns.ts';
import { beginsAsBalance, isBalanceText, isTotalText } from '../balance-texts.ts';
import { parseOfxAmount, parseOfxDay } from './parse-values.ts';
import { MalformedOfx, type OfxElement, type OfxFault, readOfxElements } from './read-ofx-elements.ts';

/** Lines of all statements of a file: one database transaction inserts them. */
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
export const NUMBER_CHARS_MAX = 64;
const NO_DATE = /^0*$/;

/** Returns the statements of a file, or what is wrong with it. It is read in turns with others. */
export async function parseOfx(bytes: Uint8Array): Promise<{ statements: BankStatement[]; faults: OfxFault[] }> {
  const faults: OfxFault[] = [];
  try {
    await takeTurn();
    const found = findStatements(await readOfxElements(bytes), faults);
    const statements: BankStatement[] = [];
    for (const one of found) statements.push(await parseStatement(one, faults));
    return { statements: faults.length > 0 ? [] : statements, faults: faults.slice(0, FAULTS_MAX) };
  } catch (error) {
    if (!(error instanceof MalformedOfx)) throw error;
    return { statements: [], faults: [error.fault] };
  }
}

function findStatements(documents: OfxElement[], faults: OfxFault[]): OfxElement[] {
  const cards = documents.flatMap((one) => childrenOf(one, 'CREDITCARDMSGSRSV1'));
  for (const { line } of cards) faults.push({ line, kind: 'credit_card' });
  const answers = documents
    .flatMap((one) => childrenOf(one, 'BANKMSGSRSV1'))
    .flatMap((one) => childrenOf(one, 'STMTTRNRS'));
  for (const answer of answers) {
    const failed = childrenOf(answer, 'STATUS').some((one) => childrenOf(one, 'SEVERITY')[0]?.text === 'ERROR');
    if (failed) faults.push({ line: answer.line, kind: 'bank_error' });
  }
  const statements = answers.flatMap((one) => childrenOf(one, 'STMTRS'));
  if (statements.length === 0 && faults.length === 0)
    faults.push({ line: documents[0]?.line ?? 1, kind: 'no_statement' });
  const transactions = statements.flatMap((one) => childrenOf(one, 'BANKTRANLIST').flatMap(listTransactions));
  // none is left out in silence because the bank put it elsewhere
  const read = new Set(transactions);
  const stray = documents.flatMap(listEverywhere).filter((one) => !read.has(one));
  if (cards.length === 0) for (const { line } of stray) faults.push({ line, kind: 'stray' });
  const beyond = transactions[OFX_LINES_MAX];
  if (beyond) throw new MalformedOfx({ line: beyond.line, kind: 'too_many_lines', value: OFX_LINES_MAX });
  return statements;
}

async function parseStatement(statement: OfxElement, faults: OfxFault[]): Promise<BankStatement> {
  const [{ line }, read] = [statement, createReader(statement, faults)];
  const currency = read.text('CURDEF', { optional: true }).toUpperCase();
  if (currency !== '' && currency !== 'BRL') faults.push({ line, kind: 'no_brl', value: 'CURDEF' });
  const owner = read.inner('BANKACCTFROM');
  const list = read.inner('BANKTRANLIST', { optional: true });
  const balance = read.inner('LEDGERBAL', { optional: true });
  const span = list && createReader(list, faults);
  const transactions = list ? listTransactions(list) : [];
  const rows = await mapInTurns(transactions, (element) => {
    const kind = kindOfRow(element);
    // a balance row may lack a FITID, an amount and a day
    return { kind, line: parseTransaction(element, kind === 'balance' ? [] : faults) };
  });
  const of = (kind: ReturnType<typeof kindOfRow>): StatementLine[] =>
    rows.filter((row) => row.kind === kind).map(({ line: one }) => one);
  const texts = transactions.flatMap((one) => childrenOf(one, 'TRNAMT')).map(({ text = '' }) => text);
  const amounts = texts.filter((text) => /[1-9]/.test(text));
  const written = balance && childrenOf(balance, 'BALAMT')[0]?.text;
  return {
    source: 'ofx',
    isNewAccount: false,
    line,
    ...(owner ? parseAccount(owner, faults) : { account: '', missing: [] }),
    hasCurrency: currency !== '',
    from: span?.optionalDay('DTSTART') ?? null,
    to: span?.optionalDay('DTEND') ?? null,
    balance: balance ? parseBalance(balance, faults) : null,
    isWhole: {
      balance: written !== undefined && !hasDecimals(written),
      lines: amounts.length > 0 && !amounts.some(hasDecimals),
    },
    lines: of('line'),
    balanceRows: of('balance'),
    openRows: of('open'),
  };
}

/** Transactions anywhere in an element. */
function listEverywhere({ children }: OfxElement): OfxElement[] {
  return children.flatMap((one) => (one.name === 'STMTTRN' ? [one] : listEverywhere(one)));
}

function hasDecimals(amount: string): boolean {
  return amount.includes('.') || amount.includes(',');
}

function listTransactions(list: OfxElement): OfxElement[] {
  return childrenOf(list, 'STMTTRN');
}

function parseAccount(owner: OfxElement, faults: OfxFault[]): Pick<BankStatement, 'account' | 'missing'> {
  const read = createReader(owner, faults);
  const missing: string[] = [];
  const parts = (['BANKID', 'BRANCHID', 'ACCTID'] as const).flatMap((name) => {
    const text = read.text(name, { max: LENGTHS_MAX[name], optional: true });
    if (text === '' && name !== 'BRANCHID') missing.push(name);
    if (text !== '' && !ACCOUNT_PART.test(text)) faults.push({ line: owner.line, kind: 'no_account', value: name });
    return text === '' ? [] : [text];
  });
  if (parts[0] === OWN_BANK) faults.push({ line: owner.line, kind: 'own_file' });
  return { account: parts.join('/'), missing };
}

function parseBalance(balance: OfxElement, faults: OfxFault[]): BankStatement['balance'] {
  const read = createReader(balance, faults);
  const cents = read.amount('BALAMT');
  const day = read.optionalDay('DTASOF');
  return day === null ? null : { cents, day, line: balance.line };
}

/** A row whose text is only that of a balance is one. If the row has a FITID, another text with *Saldo*, or a total, may be a payment. */
function kindOfRow(transaction: OfxElement): 'line' | 'balance' | 'open' {
  const first = (name: string): string => childrenOf(transaction, name)[0]?.text ?? '';
  const [name, fitid, type] = [first('NAME'), first('FITID'), first('TRNTYPE')];
  const text = first('MEMO') || name;
  const isNamed =
    beginsAsBalance(text) || isTotalText(text) || beginsAsBalance(type) || type.toUpperCase() === 'BALANCE';
  // the name of a balance beside another text may be that of a payment
  if (!isNamed) return fitid !== '' && beginsAsBalance(name) ? 'open' : 'line';
  return fitid === '' || isBalanceText(text) ? 'balance' : 'open';
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
    const parsed = parseOfxDay(value);
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
