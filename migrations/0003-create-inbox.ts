import { type Kysely, sql } from 'kysely';

/** Every webhook, raw; its arrivals; and one item for each transaction that it names. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An auto-increment key with a unique hash beside it: a random 32-byte primary key costs 4 times as much an insert.
  await sql`CREATE TABLE IF NOT EXISTS webhooks (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the body; its first 128 bits are the id',
    body MEDIUMBLOB NOT NULL,
    received_at DATETIME(3) NOT NULL,
    source_address VARBINARY(64) NOT NULL,
    headers TEXT NOT NULL COMMENT 'JSON: chosen ones, never a secret',
    state VARBINARY(16) NOT NULL COMMENT 'received (not yet taken apart), pending, applied, quarantined',
    reason VARBINARY(64) NULL,
    items INT NOT NULL DEFAULT 0,
    repeats INT NOT NULL DEFAULT 0,
    UNIQUE KEY webhooks_hash (hash),
    KEY webhooks_state (state, seq)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS webhook_repeats (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    webhook_seq BIGINT NOT NULL,
    received_at DATETIME(3) NOT NULL,
    source_address VARBINARY(64) NOT NULL,
    KEY webhook_repeats_webhook (webhook_seq, received_at)
  ) ENGINE=InnoDB`.execute(db);

  await sql`CREATE TABLE IF NOT EXISTS webhook_items (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    webhook_seq BIGINT NOT NULL,
    position INT NOT NULL,
    received_at DATETIME(3) NOT NULL,
    transaction_id VARBINARY(64) NULL COMMENT 'what the webhook named, lower case',
    reference VARBINARY(512) NULL,
    extra_hash BINARY(32) NULL COMMENT 'SHA-256 of extra',
    claimed_status VARBINARY(64) NULL,
    claimed_amount_cents BIGINT NULL,
    resolved_id VARBINARY(64) NULL COMMENT 'the transaction that it turned out to be about',
    state VARBINARY(16) NOT NULL COMMENT 'pending, applied, quarantined',
    reason VARBINARY(64) NULL,
    looks INT NOT NULL DEFAULT 0,
    looked_at DATETIME(3) NULL,
    next_look_at DATETIME(3) NULL,
    contradicted TINYINT NOT NULL DEFAULT 0,
    lease_holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL,
    UNIQUE KEY webhook_items_webhook (webhook_seq, position),
    KEY webhook_items_due (state, next_look_at),
    KEY webhook_items_transaction (transaction_id, received_at),
    KEY webhook_items_resolved (resolved_id, received_at),
    KEY webhook_items_reference (reference),
    KEY webhook_items_extra (extra_hash)
  ) ENGINE=InnoDB`.execute(db);
}
