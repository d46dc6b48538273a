import { type Kysely, sql } from 'kysely';

/** Settings that all replicas share, and the ticks of the timetable. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS settings (
    name VARBINARY(64) NOT NULL PRIMARY KEY,
    value MEDIUMBLOB NOT NULL
  ) ENGINE=InnoDB`,

  // one row per job and due time: the replica that holds the lease runs it, and an expired lease is run again
  sql`CREATE TABLE IF NOT EXISTS job_ticks (
    job VARBINARY(64) NOT NULL,
    due_at DATETIME(3) NOT NULL,
    holder VARBINARY(64) NOT NULL,
    lease_until DATETIME(3) NOT NULL,
    tries INT NOT NULL DEFAULT 1,
    finished_at DATETIME(3) NULL,
    error TEXT NULL,
    PRIMARY KEY (job, due_at),
    KEY job_ticks_open (finished_at, lease_until)
  ) ENGINE=InnoDB`,
];
