/**
 * Settles a statement beside what is stored: the direction of amounts without a sign, and the scale of those without decimals and
 * of the balance, are proven by an earlier balance and the lines since, or a person is asked. Nothing is guessed.
 */
import { sql } from 'kysely';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import type { Day } from '../../../domain/calendar.ts';
import { compareText } from '../../../domain/lists.ts';
import { BALANCE_BEFORE, type BankStatement, type StatementLine } from './bank-statement.ts';
import { type Compared, compareWithStored } from './compare-with-stored.ts';
import { identifyLines, textOf } from './identify-lines.ts';
import { type SettledRows, settleRows } from './settle-rows.ts';
import type { BankAnswers, StatementFault } from './statement-faults.ts';

export type SettledStatement = Omit<SettledRows, 'faults'> & {
  compared: Compared;
  /** Lines whose amount became negative, as their type says. */
  negated: number;
  faults: StatementFault[];
};

/** `newest`: the number of the newest statement before this file. */
type Given = { account: string; answers: BankAnswers; newest: number };

/** Types of a line that takes money out. */
const DEBITS = new Set([
  ...['DEBIT', 'FEE', 'SRVCHG', 'PAYMENT', 'CHECK', 'CASH', 'DIRECTDEBIT', 'REPEATPMT'],
  ...['D', 'DB', 'DBT', 'DR', 'DEB', 'DEBITO', 'OUT', 'SAIDA', 'SAQUE', 'TARIFA', 'PAGAMENTO'],
]);
const CREDITS = new Set(['CREDIT', 'DEP', 'DIRECTDEP', 'INT', 'DIV']);
/** Types of either direction: the sign says which, where the bank writes signs. */
const EITHER = new Set(['ATM', 'POS', 'XFER']);
/** Words of a type or a text, as in `PIXENVIADO`. */
const WORDS_OUT = /ENVIAD|TARIFA|SAQUE|DEBIT|COMPRA|PAGTO|PAGAMENTO (?:DE|EFETUAD)/;
const WORDS_IN = /RECEBID|ESTORN|DEVOL|DEPOSIT|CREDIT/;
const CENTS = 100n;

export async function settleStatement(
  context: Context,
  statement: BankStatement,
  given: Given,
): Promise<SettledStatement> {
  const settle = async (one: BankStatement) => await settleScaled(context, one, given);
  const { amounts } = given.answers;
  if (!statement.isWhole.lines || amounts === 'as_written') return (await settle(statement)).settled;
  const inCents = await settle(toCents(statement));
  if (amounts === 'cents') return inCents.settled;
  const asWritten = await settle(statement);
  const [proven, other] = [asWritten, inCents].filter(({ isProven }) => isProven);
  if (proven && !other) return proven.settled;
  const fault: StatementFault = { line: statement.lines[0]?.line ?? statement.line, kind: 'whole_amounts' };
  return { ...asWritten.settled, faults: [fault] };
}

/** A statement whose amounts without decimals are in cents. */
function toCents(statement: BankStatement): BankStatement {
  const { isWhole, balance, lines, openRows, balanceRows } = statement;
  const scale = <Row extends { cents: bigint }>(row: Row): Row => ({ ...row, cents: row.cents / CENTS });
  return {
    ...statement,
    isWhole: { balance: false, lines: false },
    balance: balance && isWhole.balance ? scale(balance) : balance,
    ...{ lines: lines.map(scale), openRows: openRows.map(scale), balanceRows: balanceRows.map(scale) },
  };
}

/** `isProven`: an earlier balance and the lines since make the balance. */
async function settleScaled(
  context: Context,
  statement: BankStatement,
  { account, answers, newest }: Given,
): Promise<{ settled: SettledStatement; isProven: boolean }> {
  const rows = settleRows(statement, answers, context.calendar.dayOf(context.clock.now()));
  const signed = await settleSigns(context, statement, { account, answers, newest, rows });
  const { balance, fault } = settleScale(statement, rows.balance, signed.expected, answers);
  const asked = answers.other_lines ? [] : signed.compared.faults;
  const faults = [...rows.faults, ...signed.faults, ...(fault ? [fault] : []), ...asked];
  const isBalanceLeftOut = rows.isBalanceLeftOut || (rows.balance !== null && balance === null);
  const isProven = signed.expected !== undefined && signed.expected === rows.balance?.cents;
  const settled = { ...rows, ...signed, balance, isBalanceLeftOut, faults: faults.sort((a, b) => a.line - b.line) };
  return { settled, isProven };
}

type Signed = Pick<SettledStatement, 'lines' | 'compared' | 'negated' | 'faults'> & { expected: bigint | undefined };

async function settleSigns(
  context: Context,
  statement: BankStatement,
  { account, answers, newest, rows }: Given & { rows: SettledRows },
): Promise<Signed> {
  const { from, to } = statement;
  const take = async (lines: StatementLine[], negated: number, faults: StatementFault[] = []): Promise<Signed> => {
    const shown = { lines: identifyLines(context.keys, lines), from, to, newest };
    const compared = await compareWithStored(context, account, shown);
    const day = rows.balance?.day;
    const expected =
      day === undefined ? undefined : await findExpected(context.db, statement, { account, day, lines, compared });
    return { lines, compared, negated, faults, expected };
  };
  const unsigned = findUnsigned(statement, rows.lines);
  const asWritten = await take(rows.lines, 0);
  if (unsigned.size === 0 || answers.signs === 'as_written') return asWritten;
  const negatives = rows.lines.map((line) => (unsigned.has(line) ? { ...line, cents: -line.cents } : line));
  const byType = await take(negatives, unsigned.size);
  const proves = ({ expected }: Signed): boolean =>
    expected !== undefined && listScales(statement, rows.balance).includes(expected);
  if (answers.signs === 'by_type' || (proves(byType) && !proves(asWritten))) return byType;
  return { ...asWritten, compared: { ...asWritten.compared, faults: [] }, faults: [...unsigned.values()] };
}

/**
 * Lines above zero of a type that takes money out, each with its fault. Where no line of the file is below zero, the bank may write
 * no signs: then the text may say so too.
 */
function findUnsigned({ lines: all }: BankStatement, lines: StatementLine[]): Map<StatementLine, StatementFault> {
  const hasSigns = all.some(({ cents }) => cents < 0n);
  const classify = ({ type, line, ...texts }: StatementLine): StatementFault[] => {
    const [plain, text] = [type, textOf(texts)].map(plainOf) as [string, string];
    if (DEBITS.has(plain.split(/[^A-Z]/, 1)[0] ?? '') || saysOut(plain))
      return [{ line, kind: 'unsigned', value: type }];
    const mayTakeOut = (!CREDITS.has(plain) && saysOut(text)) || (EITHER.has(plain) && !WORDS_IN.test(text));
    return hasSigns || !mayTakeOut ? [] : [{ line, kind: 'no_signs', value: type }];
  };
  return new Map(
    lines.filter(({ cents }) => cents > 0n).flatMap((line) => classify(line).map((fault) => [line, fault])),
  );
}

function saysOut(text: string): boolean {
  return WORDS_OUT.test(text) && !WORDS_IN.test(text);
}

function plainOf(text: string): string {
  return text.toUpperCase().normalize('NFD').replace(/\p{M}/gu, '').trim();
}

/** Lists the readings of a balance, in cents. */
function listScales(statement: BankStatement, balance: BankStatement['balance']): bigint[] {
  if (balance === null) return [];
  return isScaleOpen(statement) ? [balance.cents, balance.cents / CENTS] : [balance.cents];
}

/** Whether the balance alone may be in cents. */
function isScaleOpen({ isWhole }: BankStatement): boolean {
  return isWhole.balance && !isWhole.lines;
}

function settleScale(
  statement: BankStatement,
  balance: BankStatement['balance'],
  expected: bigint | undefined,
  answers: BankAnswers,
): { balance: BankStatement['balance']; fault?: StatementFault } {
  if (balance === null || balance.cents === 0n || !isScaleOpen(statement) || expected === balance.cents)
    return { balance };
  const inCents = { ...balance, cents: balance.cents / CENTS };
  if (answers.balance === 'leave_out') return { balance: null };
  if (answers.balance === 'as_written') return { balance };
  if (answers.balance === 'cents' || expected === inCents.cents) return { balance: inCents };
  return { balance, fault: { line: balance.line, kind: 'scale' } };
}

/**
 * The balance that the lines make of an earlier one: the newest that is stored, or a row of the file with the one before its first
 * line. Undefined where there is none.
 */
async function findExpected(
  db: Reader,
  statement: BankStatement,
  { account, day, lines, compared }: { account: string; day: Day; lines: StatementLine[]; compared: Compared },
): Promise<bigint | undefined> {
  const sum = (some: StatementLine[]): bigint =>
    some.reduce((total, one) => (one.day <= day ? total + one.cents : total), 0n);
  const earlier = await db
    .selectFrom('bank_statements')
    .select(['seq', 'balance_day', 'balance_cents'])
    .where('account', '=', account)
    .where('balance_day', '<=', day)
    .where('balance_cents', 'is not', null)
    .orderBy('balance_day', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (earlier?.balance_cents == null || earlier.balance_day === null) {
    const [before] = statement.balanceRows
      .filter((one) => one.day !== '' && BALANCE_BEFORE.test(one.memo || one.name))
      .sort((a, b) => compareText(a.day, b.day));
    return before && before.cents + sum(lines);
  }
  const since = await db
    .selectFrom('bank_lines')
    .select(sql<bigint | null>`CAST(SUM(amount_cents) AS SIGNED)`.as('cents'))
    .where('account', '=', account)
    .where('day', '<=', day)
    .where((eb) =>
      eb.or([
        eb('day', '>', earlier.balance_day),
        eb.and([eb('day', '=', earlier.balance_day), eb('statement_seq', '>', earlier.seq)]),
      ]),
    )
    .executeTakeFirst();
  const balanceDay = earlier.balance_day;
  return earlier.balance_cents + (since?.cents ?? 0n) + sum(compared.added.filter((one) => one.day >= balanceDay));
}
