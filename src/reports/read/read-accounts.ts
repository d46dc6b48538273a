import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { nameAccount } from '../../ledger/journal/plan-entries.ts';
import { readAccountNames } from '../../seal/load-sealed-entries.ts';
import { sumAtCut } from '../../seal/read-balances.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';

/** Cents of an account before the day, opened on the day itself, and at the day's end. */
export type AccountBalance = { account: string; before: bigint; opened: bigint; end: bigint };

/**
 * Sums the postings of the cut by account: before the day from the sealer's sums, and the day itself by an index. Entries
 * that open the books (a stated balance, and what was held then) belong to the opening, not to the day's movements.
 * @param snapshot sees one instant.
 * @returns the accounts with an entry of the cut before the day's end, by name.
 */
export async function readAccountBalances(snapshot: Reader, scope: DayScope): Promise<AccountBalance[]> {
  const names = await readAccountNames(snapshot);
  const accounts = [...names.keys()];
  const before = await sumAtCut(snapshot, scope, { at: scope.start, accounts });
  const moved = await sumDay(snapshot, accounts, scope);
  const opened = await readOpened(snapshot, scope);
  const balances: AccountBalance[] = [];
  for (const [seq, account] of names) {
    const sum = before.get(seq) ?? 0n;
    if (sum === 0n && !moved.has(seq) && !(await hasMoved(snapshot, seq, scope))) continue;
    balances.push({ account, before: sum, opened: opened.get(seq) ?? 0n, end: sum + (moved.get(seq) ?? 0n) });
  }
  return balances.sort((a, b) => compareText(a.account, b.account));
}

type DayScope = { start: WallTime; end: WallTime } & CutEntries;

/** The day of each account is a range of the index. Accounts in which nothing moved are missing. */
async function sumDay(db: Reader, accounts: number[], { start, end, ...cut }: DayScope): Promise<Map<number, bigint>> {
  if (accounts.length === 0) return new Map();
  const rows = await db
    .selectFrom('postings')
    .select(['account_seq', sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where('account_seq', 'in', accounts)
    .where('at_wall', '>=', start)
    .where('at_wall', '<', end)
    .where(matchesCut('entry_seq', cut))
    .groupBy('account_seq')
    .execute();
  return new Map(rows.map((row) => [row.account_seq, row.total_cents]));
}

/** Whether the cut has an entry of an account before the end: its balance may be zero. */
async function hasMoved(db: Reader, account: number, { end, ...cut }: DayScope): Promise<boolean> {
  const row = await db
    .selectFrom('postings')
    .select('entry_seq')
    .where('account_seq', '=', account)
    .where('at_wall', '<', end)
    .where(matchesCut('entry_seq', cut))
    .orderBy('at_wall')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Entries that open a platform's books, and their reversals, are dated at the first second of a day. */
export async function readOpened(db: Reader, scope: { start: WallTime } & CutEntries): Promise<Map<number, bigint>> {
  const isOpening = sql`COALESCE(origin.kind, entries.kind) IN (${sql.join(OPENING_KINDS)})`;
  return await sumMoved(
    db,
    sql<SqlBool>`entries.at_wall = ${scope.start} AND ${matchesCut('entries.seq', scope)} AND ${isOpening}`,
  );
}

/**
 * Adds up what entries move, by account number. STRAIGHT_JOIN: with few accounts the server would rather begin with all
 * postings of each. Grouping by the accounts' names took 1.6 times as long.
 * @param which says which of the table `entries`, whose reversed entry is `origin`.
 */
export async function sumMoved(db: Reader, which: RawBuilder<SqlBool>): Promise<Map<number, bigint>> {
  const rows = await db
    .selectFrom('entries')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select(['postings.account_seq', sql<string>`SUM(postings.amount_cents)`.as('sum')])
    .where(which)
    .groupBy('postings.account_seq')
    .execute();
  return new Map(rows.map((row) => [row.account_seq, BigInt(row.sum)]));
}

export const OPENING_KINDS: readonly string[] = ['opening', 'held_at_opening'];

/** Splits `Assets:Provider:Held:<platform>` into account and platform. */
export function splitAccount(name: string): { root: string; platform: string } {
  const at = name.lastIndexOf(':');
  return { root: name.slice(0, at), platform: name.slice(at + 1) };
}

/** The accounts of one platform; all for `undefined`. */
export function filterPlatform(balances: AccountBalance[], platform: string | undefined): AccountBalance[] {
  if (platform === undefined) return balances;
  return balances.filter((balance) => splitAccount(balance.account).platform === platformAccountSegment(platform));
}

/** The last part of a platform's account names. */
export function platformAccountSegment(platform: string): string {
  return splitAccount(nameAccount('', platform)).platform;
}

/** Whether an account is part of a report's balance: available + held. */
export function isBalanceAccount(root: string): boolean {
  return root === AVAILABLE || root === HELD;
}

export const AVAILABLE = 'Assets:Provider:Available';
export const HELD = 'Assets:Provider:Held';
