import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from './tables.ts';

const SHARDS = 16;

/** Adds `sign` to the hour count of each wall, in the database transaction that changes the list. */
export async function updateHourCounts(
  trx: DatabaseTransaction,
  walls: readonly string[],
  sign: 1 | -1,
): Promise<void> {
  if (walls.length === 0) return;
  const shard = Math.floor(Math.random() * SHARDS);
  const hours = Map.groupBy(walls, (wall) => wall.slice(0, 13));
  // ordered by hour: two transactions that lock the same rows in different orders would deadlock
  const rows = [...hours].map(([hour, list]) => ({ hour, shard, transactions: sign * list.length }));
  rows.sort((a, b) => (a.hour < b.hour ? -1 : 1));
  await trx
    .insertInto('hour_counts')
    .values(rows)
    .onDuplicateKeyUpdate({ transactions: sql`transactions + VALUES(transactions)` })
    .execute();
}

/** `hour` is `YYYY-MM-DD HH` */
export type HourCount = { hour: string; count: number };

/** Returns the hours with transactions between two days (both inclusive), oldest first. */
export async function readHourCounts(
  db: Database,
  from: string | undefined,
  to: string | undefined,
): Promise<HourCount[]> {
  let rows = db.selectFrom('hour_counts').select((eb) => ['hour', eb.fn.sum<string>('transactions').as('count')]);
  if (from !== undefined) rows = rows.where('hour', '>=', `${from} 00`);
  if (to !== undefined) rows = rows.where('hour', '<=', `${to} 23`);
  const found = await rows.groupBy('hour').orderBy('hour').execute();
  return found.map(({ hour, count }) => ({ hour, count: Number(count) })).filter(({ count }) => count > 0);
}
