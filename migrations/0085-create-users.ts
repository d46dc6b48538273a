import { type Kysely, sql } from 'kysely';

/** People who log in by the company's account. A session is a user's or a token's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS users (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL COMMENT 'keyed hash of issuer and subject',
    issuer VARBINARY(512) NOT NULL,
    subject VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'NULL: forgotten',
    name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'at the last login; NULL: forgotten',
    role VARBINARY(16) NULL COMMENT 'at the last login; NULL: none, it was denied',
    created_at DATETIME(3) NOT NULL,
    last_login_at DATETIME(3) NOT NULL,
    UNIQUE KEY users_id (id)
  ) ENGINE=InnoDB`.execute(db);
  const { rows } = await sql<{ name: string }>`SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'sessions'`.execute(db);
  const known = new Set(rows.map((row) => row.name));
  for (const [name, definition] of COLUMNS) {
    if (!known.has(name)) await sql`ALTER TABLE sessions ADD COLUMN ${sql.ref(name)} ${definition}`.execute(db);
  }
}

// an older version takes a session without `opened_with` for none
const COLUMNS = [
  ['user_seq', sql`BIGINT NULL COMMENT 'NULL: opened by a token'`],
  ['role', sql`VARBINARY(16) NULL COMMENT 'of a user, fixed at the login'`],
] as const;
