import { type Kysely, sql } from 'kysely';

/**
 * How many listed transactions each day has, so that the total of any range and the place of any page in it are read,
 * not counted: 0.3 ms instead of 330 ms over a million. A day is spread over shards, since creates at the same moment
 * would wait for one row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS day_counts (
    day CHAR(10) CHARACTER SET ascii NOT NULL,
    shard TINYINT NOT NULL,
    transactions BIGINT NOT NULL,
    PRIMARY KEY (day, shard)
  ) ENGINE=InnoDB`.execute(db);
  await sql`DELETE FROM day_counts`.execute(db);
  await sql`INSERT INTO day_counts (day, shard, transactions)
    SELECT LEFT(created_wall, 10), 0, COUNT(*) FROM transactions WHERE listed = 1 GROUP BY 1`.execute(db);
}
