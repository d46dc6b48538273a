import { type Kysely, sql } from 'kysely';

/**
 * How webhooks came, by the day of the change, as the watch counted it: counting a day reads all its changes, and a chart
 * has 92 days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS webhook_days (
    day DATE NOT NULL PRIMARY KEY,
    announced INT NOT NULL COMMENT 'changes that a webhook announced in time',
    lost INT NOT NULL,
    waiting INT NOT NULL COMMENT 'expected webhooks whose grace was not over',
    late_p50_s INT NULL COMMENT 'seconds from a change to its webhook; NULL: none was announced',
    late_p95_s INT NULL,
    late_max_s INT NULL,
    counted_at DATETIME(3) NOT NULL
  ) ENGINE=InnoDB`.execute(db);
}
