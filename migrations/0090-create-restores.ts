import { type Kysely, sql } from 'kysely';

/** Times at which this database was restored from a backup. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS restores (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    gap_from DATETIME(3) NOT NULL COMMENT 'the backup has everything that was answered or committed before',
    gap_to DATETIME(3) NULL COMMENT 'from here on webhooks are received again; NULL: not yet',
    restored_at DATETIME(3) NOT NULL,
    head_position BIGINT NOT NULL COMMENT 'the newest seal of the backup; 0: none',
    confirmed_at DATETIME(3) NULL COMMENT 'NULL: callbacks are held until a person confirms the restore'
  ) ENGINE=InnoDB`.execute(db);
}
