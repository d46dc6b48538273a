/**
 * Compares `Assets:Bank` with the bank. A match writes no entry, so the ledger's balance stays as the adjustments made it; what
 * is matched is closed, and the rest is listed. The difference between the bank's balance (LEDGERBAL) and the ledger's is
 * explained to the cent:
 *
 *   bank − ledger = before the first line + withdrawals + open lines − open entries − lines after the balance
 *
 * All sums are as the bank sees them: positive came into the bank account.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { selectOpenAdjustments } from './read-open-entries.ts';
import { matchOfLine } from './standing-matches.ts';

export type Sum = { count: number; cents: bigint };

/** Two balances of an account between which lines are missing, or too many. */
export type Gap = { from: Day; to: Day; cents: bigint };

export type BankAccount = {
  account: string;
  lines: Sum;
  firstDay: Day | null;
  lastDay: Day | null;
  /** The newest LEDGERBAL; null: no file had one. */
  balance: { day: Day; cents: bigint } | null;
  /** The balance less the lines up to it. */
  beforeCents: bigint;
  /** Lines after the balance. */
  afterCents: bigint;
  gaps: Gap[];
};

export type BankSummary = {
  accounts: BankAccount[];
  /** Sums `Assets:Bank`, all platforms and entries. */
  ledgerCents: bigint;
  /** Lines matched with adjustments: as much of the ledger's balance is closed. */
  matched: Sum;
  /** Lines matched with cashouts, which are not in `Assets:Bank`. */
  withdrawals: Sum;
  openLines: Sum;
  openEntries: Sum;
  beforeCents: bigint;
  afterCents: bigint;
  /** null: an account has no balance. */
  bankCents: bigint | null;
};

export async function summarizeBank(db: Reader): Promise<BankSummary> {
  const accounts = await readAccounts(db);
  const lines = await sumLines(db);
  const balances = accounts.map(({ balance }) => balance?.cents ?? null);
  const bankCents = balances.reduce<bigint | null>(
    (sum, cents) => (sum === null || cents === null ? null : sum + cents),
    0n,
  );
  return {
    accounts,
    ledgerCents: await readLedgerBalance(db),
    ...lines,
    openEntries: await sumOpenEntries(db),
    beforeCents: accounts.reduce((sum, one) => sum + one.beforeCents, 0n),
    afterCents: accounts.reduce((sum, one) => sum + one.afterCents, 0n),
    bankCents: accounts.length === 0 ? null : bankCents,
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

async function sumLines(db: Reader): Promise<Pick<BankSummary, 'matched' | 'withdrawals' | 'openLines'>> {
  const rows = await db
    .selectFrom('bank_lines')
    .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
    .leftJoin('entries', 'entries.seq', 'bank_matches.entry_seq')
    .select(
      sql<string>`CASE WHEN bank_matches.seq IS NULL THEN 'openLines'
        WHEN entries.transaction_seq IS NULL THEN 'matched' ELSE 'withdrawals' END`.as('state'),
    )
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('bank_lines.amount_cents')])
    .where('bank_lines.amount_cents', '!=', 0n)
    .groupBy('state')
    .execute();
  const of = (state: string): Sum => toSum(rows.find((row) => row.state === state));
  return { matched: of('matched'), withdrawals: of('withdrawals'), openLines: of('openLines') };
}

async function sumOpenEntries(db: Reader): Promise<Sum> {
  const row = await selectOpenAdjustments(db)
    .select((eb) => [eb.fn.countAll<number>().as('count'), sumOf('adjustments.amount_cents')])
    .executeTakeFirst();
  const { count, cents } = toSum(row);
  return { count, cents: -cents };
}

function sumOf(column: string) {
  return sql<bigint | null>`CAST(SUM(${sql.ref(column)}) AS SIGNED)`.as('total_cents');
}

function toSum(row: { count: number; total_cents: bigint | null } | undefined): Sum {
  return { count: row?.count ?? 0, cents: row?.total_cents ?? 0n };
}

type DaySum = { account: string; day: Day; statement: number; count: number; cents: bigint };
type Balance = { account: string; seq: number; day: Day; cents: bigint };

async function readAccounts(db: Reader): Promise<BankAccount[]> {
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
  const names = [...new Set(statements.map(({ account }) => account))].sort();
  const balances = statements.flatMap(({ account, seq, balance_day: day, balance_cents: cents }) =>
    day === null || cents === null ? [] : [{ account, seq, day, cents }],
  );
  return names.map((account) =>
    summarizeAccount(
      account,
      sums.filter((one) => one.account === account),
      balances.filter((one) => one.account === account),
    ),
  );
}

/** Summarizes an account. @param sums by day, the oldest first. @param balances the oldest first. */
export function summarizeAccount(account: string, sums: DaySum[], balances: Balance[]): BankAccount {
  const all = { count: sums.reduce((sum, one) => sum + one.count, 0), cents: sumCents(sums) };
  const newest = balances.at(-1);
  const beforeCents = newest ? newest.cents - sumUntil(sums, newest) : 0n;
  return {
    account,
    lines: all,
    firstDay: sums[0]?.day ?? null,
    lastDay: sums.at(-1)?.day ?? null,
    balance: newest ? { day: newest.day, cents: newest.cents } : null,
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
