import { sql } from 'kysely';

import type { Reader } from '../database/reader.ts';
import type { Wall } from '../domain/calendar.ts';
import { nameAccount } from '../ledger/post.ts';

/** Cents of each account before the day, what opened the books on the day itself, and at the day's end. */
export type AccountBalance = { account: string; before: bigint; opened: bigint; end: bigint };

/**
 * The ledger's own sums, by account, of entries up to the cut: one pass over the index of postings. What opens the
 * books (a stated balance, and what was held then) counts to the opening and not to the day's movements.
 */
export async function readBalances(
  db: Reader,
  scope: { start: Wall; end: Wall; entrySeq: number },
): Promise<AccountBalance[]> {
  const names = new Map(
    (await db.selectFrom('accounts').select(['seq', 'name']).execute()).map((row) => [row.seq, row.name]),
  );
  const rows = await db
    .selectFrom('postings')
    .select([
      'account_seq',
      sql<string>`SUM(CASE WHEN at_wall < ${scope.start} THEN amount_cents ELSE 0 END)`.as('before'),
      sql<string>`SUM(amount_cents)`.as('end'),
    ])
    .where('at_wall', '<', scope.end)
    .where('entry_seq', '<=', scope.entrySeq)
    .groupBy('account_seq')
    .execute();
  const opened = await readOpened(db, scope);
  return rows
    .map((row) => ({
      account: names.get(row.account_seq) ?? `unknown:${row.account_seq}`,
      before: BigInt(row.before),
      opened: opened.get(row.account_seq) ?? 0n,
      end: BigInt(row.end),
    }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
}

/** Entries that open a platform's books stand at the first second of a day, as do their reversals. */
async function readOpened(db: Reader, scope: { start: Wall; entrySeq: number }): Promise<Map<number, bigint>> {
  const rows = await db
    .selectFrom('entries')
    .leftJoin('entries as origin', 'origin.seq', 'entries.reverses_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .select(['postings.account_seq', sql<string>`SUM(postings.amount_cents)`.as('sum')])
    .where('entries.at_wall', '=', scope.start)
    .where('entries.seq', '<=', scope.entrySeq)
    .where(sql`COALESCE(origin.kind, entries.kind)`, 'in', OPENING_KINDS)
    .groupBy('postings.account_seq')
    .execute();
  return new Map(rows.map((row) => [row.account_seq, BigInt(row.sum)]));
}

export const OPENING_KINDS: readonly string[] = ['opening', 'held_at_opening'];

/** `Assets:Provider:Held:<platform>` as its account and platform. */
export function splitAccount(name: string): { root: string; platform: string } {
  const at = name.lastIndexOf(':');
  return { root: name.slice(0, at), platform: name.slice(at + 1) };
}

/** Only one platform's accounts, where one is asked for. */
export function keepPlatform(balances: AccountBalance[], platform: string | undefined): AccountBalance[] {
  if (platform === undefined) return balances;
  return balances.filter((balance) => splitAccount(balance.account).platform === namePlatform(platform));
}

/** The last part of a platform's account names. */
export function namePlatform(platform: string): string {
  return splitAccount(nameAccount('', platform)).platform;
}

/** What a report calls balance: available and held together. */
export function isBalance(root: string): boolean {
  return root === AVAILABLE || root === HELD;
}

export const AVAILABLE = 'Assets:Provider:Available';
export const HELD = 'Assets:Provider:Held';
