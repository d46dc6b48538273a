import { type Kysely, sql } from 'kysely';

/** What every other part stands on: settings, who may do what and did it, and the ticks of the timetable. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS settings (
    name VARBINARY(64) NOT NULL PRIMARY KEY,
    value MEDIUMBLOB NOT NULL
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS tokens (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    name VARCHAR(200) NOT NULL,
    role VARBINARY(16) NOT NULL,
    token_hash BINARY(32) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    revoked_at DATETIME(3) NULL,
    UNIQUE KEY tokens_id (id),
    UNIQUE KEY tokens_hash (token_hash)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS sessions (
    session_hash BINARY(32) NOT NULL PRIMARY KEY,
    token_seq BIGINT NULL COMMENT 'NULL: the ADMIN_TOKEN of the environment',
    created_at DATETIME(3) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    KEY sessions_expiry (expires_at)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS audit (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL COMMENT 'a token''s id, or command',
    action VARBINARY(64) NOT NULL,
    target VARBINARY(128) NOT NULL,
    detail TEXT NULL,
    KEY audit_target (target, seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS job_ticks (
    job VARBINARY(64) NOT NULL,
    due_at DATETIME(3) NOT NULL,
    holder VARBINARY(64) NOT NULL,
    lease_until DATETIME(3) NOT NULL,
    tries INT NOT NULL DEFAULT 1,
    finished_at DATETIME(3) NULL,
    error TEXT NULL,
    PRIMARY KEY (job, due_at),
    KEY job_ticks_open (finished_at, lease_until)
  ) ENGINE=InnoDB`.execute(db);
}
