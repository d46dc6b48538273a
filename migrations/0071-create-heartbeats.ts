import { type Kysely, sql } from 'kysely';

/** What each process last did, so that the processes alive notice one that is not. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS heartbeats (
    part VARBINARY(32) NOT NULL COMMENT 'a worker loop (inbox, sealer, alerts, watch), or a disk (DATA_DIR, SPOOL_DIR)',
    holder VARBINARY(64) NOT NULL COMMENT 'the process',
    host VARBINARY(255) NOT NULL,
    seen_at DATETIME(3) NOT NULL COMMENT 'the last pass of the loop, also without work; the last measurement of the disk',
    short_bytes BIGINT NULL COMMENT 'of a disk with less free than DISK_FREE_MIN: the bytes that are free',
    PRIMARY KEY (part, holder),
    KEY heartbeats_seen (seen_at)
  ) ENGINE=InnoDB`.execute(db);
}
