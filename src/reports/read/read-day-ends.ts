import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Day, WallTime } from '../../domain/calendar.ts';
import { type AccountBalance, HELD, isBalanceAccount, splitAccount } from './read-accounts.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';

/** The balance of all platforms at the end of a day, by the ledger's own sums. */
export type DayEnd = { closing: bigint; held: bigint };

/** @param balances before the first day. @returns the ends of these days, one for each. */
export async function readDayEnds(
  db: Reader,
  {
    days,
    balances,
    ...scope
  }: { days: Day[]; balances: AccountBalance[]; start: WallTime; end: WallTime } & CutEntries,
): Promise<DayEnd[]> {
  const own = balances.filter(({ account }) => isBalanceAccount(splitAccount(account).root));
  const moved = new Map<Day, DayEnd>();
  for (const { account, cents, day } of own.length === 0 ? [] : await sumDays(db, own, scope)) {
    const sum = moved.get(day) ?? { closing: 0n, held: 0n };
    sum.closing += cents;
    if (isHeld(account)) sum.held += cents;
    moved.set(day, sum);
  }
  let closing = own.reduce((sum, one) => sum + one.before, 0n);
  let held = own.reduce((sum, one) => sum + (isHeld(one.account) ? one.before : 0n), 0n);
  return days.map((day) => {
    closing += moved.get(day)?.closing ?? 0n;
    held += moved.get(day)?.held ?? 0n;
    return { closing, held };
  });
}

/** The days of each account are a range of an index. */
async function sumDays(db: Reader, own: AccountBalance[], scope: { start: WallTime; end: WallTime } & CutEntries) {
  const accounts = await db
    .selectFrom('accounts')
    .select(['seq', 'name'])
    .where(
      'name',
      'in',
      own.map((one) => one.account),
    )
    .execute();
  const names = new Map(accounts.map(({ seq, name }) => [seq, name]));
  const rows = await db
    .selectFrom('postings')
    .select(['account_seq', sql<string>`LEFT(at_wall, 10)`.as('day'), sql<string>`SUM(amount_cents)`.as('sum')])
    .where('account_seq', 'in', [...names.keys()])
    .where('at_wall', '>=', scope.start)
    .where('at_wall', '<', scope.end)
    .where(matchesCut('entry_seq', scope))
    .groupBy(['account_seq', 'day'])
    .execute();
  return rows.map((row) => ({ account: names.get(row.account_seq) ?? '', day: row.day, cents: BigInt(row.sum) }));
}

function isHeld(account: string): boolean {
  return splitAccount(account).root === HELD;
}
