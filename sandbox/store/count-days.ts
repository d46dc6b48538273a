import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from './tables.ts';

const SHARDS = 16;

/** Adds (or takes, with -1) one for each wall to the count of its day, within the transaction that changes the list. */
export async function countDays(trx: DatabaseTransaction, walls: readonly string[], sign: 1 | -1): Promise<void> {
  if (walls.length === 0) return;
  const shard = Math.floor(Math.random() * SHARDS);
  const days = Map.groupBy(walls, (wall) => wall.slice(0, 10));
  // in the order of days: two that take the same rows in turn would block each other
  const rows = [...days].map(([day, list]) => ({ day, shard, transactions: sign * list.length }));
  rows.sort((a, b) => (a.day < b.day ? -1 : 1));
  await trx
    .insertInto('day_counts')
    .values(rows)
    .onDuplicateKeyUpdate({ transactions: sql`transactions + VALUES(transactions)` })
    .execute();
}

export type DayCount = { day: string; count: number };

/** The counts of the days that have any, oldest first, between bounds that are both within. */
export async function readDayCounts(
  db: Database,
  from: string | undefined,
  to: string | undefined,
): Promise<DayCount[]> {
  let rows = db.selectFrom('day_counts').select((eb) => ['day', eb.fn.sum<string>('transactions').as('count')]);
  if (from !== undefined) rows = rows.where('day', '>=', from);
  if (to !== undefined) rows = rows.where('day', '<=', to);
  const found = await rows.groupBy('day').orderBy('day').execute();
  return found.map(({ day, count }) => ({ day, count: Number(count) })).filter(({ count }) => count > 0);
}
