/**
 * Compares `Assets:Bank` with the bank. A match writes no entry, so the ledger's balance stays as the adjustments made it; what
 * is matched is closed, and the rest is listed. The difference between the bank's balance (LEDGERBAL) and the ledger's is
 * explained to the cent:
 *
 *   bank − ledger = before the first line + withdrawals + open lines + lines of nothing of PIX − open entries − lines after the balance
 *
 * The lines of an account are matched, open or nothing of PIX: their sums add up to its own.
 *
 * All sums are as the bank sees them: positive came into the bank account.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { readBankAccounts } from '../stated/bank-accounts.ts';
import { selectOpenAdjustments } from './read-open-entries.ts';
import { matchOfLine } from './standing-matches.ts';

export type Sum = { count: number; cents: bigint };

/** Two balances of an account between which lines are missing, or too many. */
export type Gap = { from: Day; to: Day; cents: bigint };

/** Lines by what they are; `withdrawals`: matched with cashouts, `matched`: with adjustments. */
type LineSums = Record<'matched' | 'withdrawals' | 'openLines' | 'notPix', Sum>;

export type BankAccount = LineSums & {
  account: string;
  name: string | null;
  lines: Sum;
  /** Money from the provider: matched lines above zero, and such entries that name this account and have no line yet. */
  received: Sum;
  /** Entries that name this account and have no line. */
  openEntries: Sum;
  firstDay: Day | null;
  lastDay: Day | null;
  /** The newest LEDGERBAL, or a balance that a person stated; null: there is none. */
  balance: { day: Day; cents: bigint; isStated: boolean } | null;
  /** The balance less the lines up to it. */
  beforeCents: bigint;
  /** Lines after the balance. */
  afterCents: bigint;
  gaps: Gap[];
};

/** As much of the ledger's balance is closed as is `matched`; `withdrawals` are not in `Assets:Bank`. */
export type BankSummary = LineSums & {
  accounts: BankAccount[];
  /** Sums `Assets:Bank`, all platforms and entries. */
  ledgerCents: bigint;
  openEntries: Sum;
  beforeCents: bigint;
  afterCents: bigint;
  /** null: an account has no balance. */
  bankCents: bigint | null;
};

export async function summarizeBank(db: Reader): Promise<BankSummary> {
  const [lines, entries] = [await sumLines(db), await sumOpenEntries(db)];
  const accounts = await readAccounts(db, lines, entries);
  // a person may have named an account that no statement shows
  const shown = accounts.filter(({ lastDay, balance }) => lastDay !== null || balance !== null);
  const balances = shown.map(({ balance }) => balance?.cents ?? null);
  const bankCents = balances.reduce<bigint | null>(
    (sum, cents) => (sum === null || cents === null ? null : sum + cents),
    0n,
  );
  return {
    accounts,
    ledgerCents: await readLedgerBalance(db),
    ...sumStates(lines),
    openEntries: addUp(entries),
    beforeCents: accounts.reduce((sum, one) => sum + one.beforeCents, 0n),
    afterCents: accounts.reduce((sum, one) => sum + one.afterCents, 0n),
    bankCents: shown.length === 0 ? null : bankCents,
  };
}

/** The balance of the postings, not of the adjustments: a test compares both. */
async function readLedgerBalance(db: Reader): Promise<bigint> {
  const row = await db
    .selectFrom('postings')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select(sumOf('amount_cents'))
    .where('accounts.name', 'like', 'Assets:Bank:%')
    .executeTakeFirst();
  return row?.total_cents ?? 0n;
}

/** `account` null: entries name none. `isIn`: above zero. */
type Part = Sum & { account: string | null; isIn: boolean };
type LinePart = Part & { state: keyof LineSums };

async function sumLines(db: Reader): Promise<LinePart[]> {
  const rows = await db
    .selectFrom('bank_lines')
    .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
    .leftJoin('entries', 'entries.seq', 'bank_matches.entry_seq')
    .select('account')
    .select(
      sql<
        keyof LineSums
      >`CASE WHEN bank_matches.seq IS NULL THEN 'openLines' WHEN bank_matches.entry_seq IS NULL THEN 'notPix'
        WHEN entries.transaction_seq IS NULL THEN 'matched' ELSE 'withdrawals' END`.as('state'),
    )
    .select(sql<number>`bank_lines.amount_cents > 0`.as('is_in'))
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('bank_lines.amount_cents')])
    .where('bank_lines.amount_cents', '!=', 0n)
    .groupBy(['account', 'state', 'is_in'])
    .execute();
  return rows.map(({ account, state, is_in, ...sum }) => ({ account, state, isIn: is_in === 1, ...toSum(sum) }));
}

/** Sums the open lines that were booked until a day. */
export async function sumOpenLines(db: Reader, until: Day): Promise<Sum> {
  const row = await db
    .selectFrom('bank_lines')
    .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('bank_lines.amount_cents')])
    .where('bank_matches.seq', 'is', null)
    .where('bank_lines.amount_cents', '!=', 0n)
    .where('bank_lines.day', '<=', until)
    .executeTakeFirst();
  return toSum(row);
}

async function sumOpenEntries(db: Reader): Promise<Part[]> {
  const rows = await selectOpenAdjustments(db)
    .select(['bank_account as account', sql<number>`adjustments.amount_cents < 0`.as('is_in')])
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('adjustments.amount_cents')])
    .groupBy(['bank_account', 'is_in'])
    .execute();
  return rows.map(({ account, is_in, ...row }) => {
    const { count, cents } = toSum(row);
    return { account, isIn: is_in === 1, count, cents: -cents };
  });
}

function sumStates(lines: readonly LinePart[]): LineSums {
  const of = (state: keyof LineSums): Sum => addUp(lines.filter((one) => one.state === state));
  return { matched: of('matched'), withdrawals: of('withdrawals'), openLines: of('openLines'), notPix: of('notPix') };
}

function addUp(parts: readonly Sum[]): Sum {
  return {
    count: parts.reduce((total, { count }) => total + count, 0),
    cents: parts.reduce((total, { cents }) => total + cents, 0n),
  };
}

function sumOf(column: string) {
  return sql<bigint | null>`CAST(SUM(${sql.ref(column)}) AS SIGNED)`.as('total_cents');
}

function toSum(row: { count: number; total_cents: bigint | null } | undefined): Sum {
  return { count: row?.count ?? 0, cents: row?.total_cents ?? 0n };
}

/** The number of no statement: a person stated the balance. */
const STATED_SEQ = Number.MAX_SAFE_INTEGER;

type DaySum = { account: string; day: Day; statement: number; count: number; cents: bigint };
type Balance = { account: string; seq: number; day: Day; cents: bigint };

async function readAccounts(db: Reader, lines: LinePart[], entries: Part[]): Promise<BankAccount[]> {
  const stated = await readBankAccounts(db);
  const rows = await db
    .selectFrom('bank_lines')
    .select(['account', 'day', 'statement_seq as statement'])
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('amount_cents')])
    .groupBy(['account', 'day', 'statement_seq'])
    .orderBy('day')
    .execute();
  const sums = rows.map(({ account, day, statement, ...sum }) => ({ account, day, statement, ...toSum(sum) }));
  const statements = await db
    .selectFrom('bank_statements')
    .select(['account', 'seq', 'balance_day', 'balance_cents'])
    .orderBy('balance_day')
    .orderBy('seq')
    .execute();
  const shown = [...new Set([...statements.map(({ account }) => account), ...stated.keys()])].sort();
  const balances = statements.flatMap(({ account, seq, balance_day: day, balance_cents: cents }) =>
    day === null || cents === null ? [] : [{ account, seq, day, cents }],
  );
  return shown.map((account) => {
    const of = <One extends { account: string | null }>(all: readonly One[]) =>
      all.filter((one) => one.account === account);
    const [ownLines, ownEntries] = [of(lines), of(entries)];
    const own = of(balances);
    const { balance } = stated.get(account) ?? {};
    // it holds all lines of its day
    if (balance) own.push({ account, seq: STATED_SEQ, ...balance });
    own.sort((a, b) => compareText(a.day, b.day) || a.seq - b.seq);
    const isMatched = ({ state }: LinePart): boolean => state === 'matched' || state === 'withdrawals';
    return {
      ...{ account, name: stated.get(account)?.name ?? null, ...sumStates(ownLines) },
      received: addUp([...ownLines.filter(isMatched), ...ownEntries].filter(({ isIn }) => isIn)),
      openEntries: addUp(ownEntries),
      ...summarizeDays(of(sums), own),
    };
  });
}

type Days = Pick<BankAccount, 'lines' | 'firstDay' | 'lastDay' | 'balance' | 'beforeCents' | 'afterCents' | 'gaps'>;

/** Summarizes the days of an account. @param sums by day, the oldest first. @param balances the oldest first. */
export function summarizeDays(sums: DaySum[], balances: Balance[]): Days {
  const all = addUp(sums);
  const newest = balances.at(-1);
  const beforeCents = newest ? newest.cents - sumUntil(sums, newest) : 0n;
  return {
    lines: all,
    firstDay: sums[0]?.day ?? null,
    lastDay: sums.at(-1)?.day ?? null,
    balance: newest ? { day: newest.day, cents: newest.cents, isStated: newest.seq === STATED_SEQ } : null,
    beforeCents,
    afterCents: newest ? all.cents - sumUntil(sums, newest) : 0n,
    gaps: findGaps(sums, balances),
  };
}

/**
 * Two balances without a gap agree on the balance before the first line. A balance of a day that had not ended holds the lines
 * of that day that its own file, or an earlier one, had.
 */
function findGaps(sums: DaySum[], balances: Balance[]): Gap[] {
  return balances.slice(1).flatMap((balance, index) => {
    const earlier = balances[index] ?? balance;
    const cents = balance.cents - sumUntil(sums, balance) - (earlier.cents - sumUntil(sums, earlier));
    return cents === 0n ? [] : [{ from: earlier.day, to: balance.day, cents }];
  });
}

function sumUntil(sums: DaySum[], { day, seq }: Balance): bigint {
  return sumCents(sums.filter((one) => one.day < day || (one.day === day && one.statement <= seq)));
}

function sumCents(sums: { cents: bigint }[]): bigint {
  return sums.reduce((total, { cents }) => total + cents, 0n);
}
