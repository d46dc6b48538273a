import { sql } from 'kysely';

import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { nameAccount } from '../../ledger/journal/plan-entries.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';

/** Cents of an account before the day, opened on the day itself, and at the day's end. */
export type AccountBalance = { account: string; before: bigint; opened: bigint; end: bigint };

/**
 * Sums the postings of the cut by account, each a range of an index. Entries that open the books (a stated balance, and
 * what was held then) belong to the opening, not to the day's movements.
 */
export async function readBalances(
  db: Reader,
  scope: { start: WallTime; end: WallTime } & CutEntries,
): Promise<AccountBalance[]> {
  const names = new Map(
    (await db.selectFrom('accounts').select(['seq', 'name']).execute()).map((row) => [row.seq, row.name]),
  );
  const opened = await readOpened(db, scope);
  const balances: AccountBalance[] = [];
  for (const [seq, account] of names) {
    const sums = await sumAccount(db, seq, scope);
    if (sums) balances.push({ account, ...sums, opened: opened.get(seq) ?? 0n });
  }
  return balances.sort((a, b) => (a.account < b.account ? -1 : 1));
}

/** One account a query, so the index ends the scan at the day's end: one query for all read later postings too. */
async function sumAccount(db: Reader, account: number, scope: { start: WallTime; end: WallTime } & CutEntries) {
  const row = await db
    .selectFrom('postings')
    .select([
      sql<string | null>`SUM(CASE WHEN at_wall < ${scope.start} THEN amount_cents ELSE 0 END)`.as('before'),
      sql<string | null>`SUM(amount_cents)`.as('end'),
    ])
    .where('account_seq', '=', account)
    .where('at_wall', '<', scope.end)
    .where(matchesCut('entry_seq', scope))
    .executeTakeFirst();
  return row?.end === null || row?.end === undefined
    ? undefined
    : { before: BigInt(row.before ?? 0), end: BigInt(row.end) };
}

/** Entries that open a platform's books, and their reversals, are dated at the first second of a day. */
export async function readOpened(db: Reader, scope: { start: WallTime } & CutEntries): Promise<Map<number, bigint>> {
  const rows = await db
    .selectFrom('entries')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select(['postings.account_seq', sql<string>`SUM(postings.amount_cents)`.as('sum')])
    .where('entries.at_wall', '=', scope.start)
    .where(matchesCut('entries.seq', scope))
    .where(sql`COALESCE(origin.kind, entries.kind)`, 'in', OPENING_KINDS)
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
