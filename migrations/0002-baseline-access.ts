import { type Kysely, sql } from 'kysely';

/** Tokens, console sessions, and the audit log of actions by people. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  // only the hash of a token is stored
  sql`CREATE TABLE IF NOT EXISTS tokens (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    name VARCHAR(200) NOT NULL,
    role VARBINARY(16) NOT NULL,
    token_hash BINARY(32) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    revoked_at DATETIME(3) NULL,
    expires_at DATETIME(3) NULL,
    last_used_at DATETIME(3) NULL COMMENT 'rounded to the minute',
    UNIQUE KEY tokens_id (id),
    UNIQUE KEY tokens_hash (token_hash)
  ) ENGINE=InnoDB`,

  // a session ends with the token that opened it
  sql`CREATE TABLE IF NOT EXISTS sessions (
    session_hash BINARY(32) NOT NULL PRIMARY KEY,
    token_seq BIGINT NULL COMMENT 'NULL: the ADMIN_TOKEN of the environment',
    created_at DATETIME(3) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    opened_with BINARY(32) NULL COMMENT 'hash of the token that opened the session',
    KEY sessions_expiry (expires_at)
  ) ENGINE=InnoDB`,

  // append-only (0013) and part of the hash chain (0006)
  sql`CREATE TABLE IF NOT EXISTS audit (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at DATETIME(3) NOT NULL,
    actor VARBINARY(64) NOT NULL COMMENT 'id of a token, or command',
    action VARBINARY(64) NOT NULL,
    target VARBINARY(128) NOT NULL,
    detail TEXT NULL,
    id VARBINARY(40) NULL COMMENT 'random, made by the writer; NULL: written by a version without ids',
    UNIQUE KEY audit_id (id),
    KEY audit_target (target, seq),
    KEY audit_actor (actor, action, at),
    KEY audit_at (at),
    KEY audit_action (action, seq)
  ) ENGINE=InnoDB`,
];
