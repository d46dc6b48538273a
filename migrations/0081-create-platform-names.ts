import { type Kysely, sql } from 'kysely';

/** The names that people gave to platforms. The newest row of a platform counts; a report shows those from before it was made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS platform_names (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    platform VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'NULL: it has no name any more',
    created_at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL,
    KEY platform_names_platform (platform)
  ) ENGINE=InnoDB`.execute(db);
}
