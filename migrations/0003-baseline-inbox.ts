import { type Kysely, sql } from 'kysely';

/**
 * Received webhooks with their raw bodies, one item per transaction that a webhook names, and the state of receivers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  // an auto-increment key with a unique hash beside it: a random 32-byte primary key costs 4 times as much per insert
  sql`CREATE TABLE IF NOT EXISTS webhooks (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the body; its first 128 bits are the id',
    body MEDIUMBLOB NOT NULL,
    received_at DATETIME(3) NOT NULL,
    source_address VARBINARY(64) NOT NULL,
    headers TEXT NOT NULL COMMENT 'JSON: selected headers, never a secret',
    state VARBINARY(16) NOT NULL COMMENT 'received (not split into items yet), pending, applied, quarantined',
    reason VARBINARY(64) NULL,
    items INT NOT NULL DEFAULT 0,
    repeats INT NOT NULL DEFAULT 0,
    redacted_at DATETIME(3) NULL COMMENT 'when a person in the body was forgotten',
    dropped_at DATETIME(3) NULL COMMENT 'when the body was dropped; the hash stays',
    body_bytes INT AS (LENGTH(body)) STORED COMMENT 'length of body; stored, because an index over a virtual column makes the purge read bodies',
    UNIQUE KEY webhooks_hash (hash),
    KEY webhooks_state (state, seq),
    KEY webhooks_kept (state, dropped_at, source_address, seq, reason, body_bytes)
  ) ENGINE=InnoDB`,

  // arrivals of a body that is in the inbox already
  sql`CREATE TABLE IF NOT EXISTS webhook_repeats (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    webhook_seq BIGINT NOT NULL,
    received_at DATETIME(3) NOT NULL,
    source_address VARBINARY(64) NOT NULL,
    KEY webhook_repeats_webhook (webhook_seq, received_at)
  ) ENGINE=InnoDB`,

  // one per transaction that the body names: the unit of work of the verifier
  sql`CREATE TABLE IF NOT EXISTS webhook_items (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    webhook_seq BIGINT NOT NULL,
    position INT NOT NULL,
    received_at DATETIME(3) NOT NULL,
    transaction_id VARBINARY(64) NULL COMMENT 'as named by the webhook, in lower case',
    reference VARBINARY(512) NULL,
    extra_hash BINARY(32) NULL COMMENT 'SHA-256 of extra',
    claimed_status VARBINARY(64) NULL,
    claimed_amount_cents BIGINT NULL,
    resolved_id VARBINARY(64) NULL COMMENT 'the transaction that the item is about',
    state VARBINARY(16) NOT NULL COMMENT 'pending, applied, quarantined',
    reason VARBINARY(64) NULL,
    looks INT NOT NULL DEFAULT 0,
    looked_at DATETIME(3) NULL,
    next_look_at DATETIME(3) NULL,
    contradicted TINYINT NOT NULL DEFAULT 0,
    lease_holder VARBINARY(64) NULL,
    lease_until DATETIME(3) NULL,
    misses INT NOT NULL DEFAULT 0 COMMENT 'fetches that the provider answered with 404',
    granted TINYINT NOT NULL DEFAULT 0 COMMENT '1: a person asked for a fetch',
    UNIQUE KEY webhook_items_webhook (webhook_seq, position),
    KEY webhook_items_due (state, next_look_at),
    KEY webhook_items_transaction (transaction_id, received_at),
    KEY webhook_items_resolved (resolved_id, received_at),
    KEY webhook_items_reference (reference),
    KEY webhook_items_extra (extra_hash),
    KEY webhook_items_first (state, looks, position, next_look_at)
  ) ENGINE=InnoDB`,

  // the cost of a sender of webhooks in the current hour: fetches of unknown ids, and garbage
  sql`CREATE TABLE IF NOT EXISTS senders (
    address VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'an IPv4 address, or the /64 of an IPv6 address',
    hit_at DATETIME(3) NULL COMMENT 'when the provider last knew a transaction that a webhook of this sender named',
    hour_at DATETIME(3) NOT NULL COMMENT 'start of the hour that is counted',
    shows INT NOT NULL DEFAULT 0 COMMENT 'fetches in that hour by ids that the provider does not know',
    garbage_bytes BIGINT NOT NULL DEFAULT 0 COMMENT 'bytes in that hour that name no transaction',
    KEY senders_hour (hour_at)
  ) ENGINE=InnoDB`,

  // last report of each spool directory: a webhook does not count as lost while a spool may still hold it
  sql`CREATE TABLE IF NOT EXISTS spools (
    name VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'host and directory',
    seen_at DATETIME(3) NOT NULL,
    since DATETIME(3) NOT NULL COMMENT 'start of the time in which the spool reported without a gap',
    is_waiting TINYINT NOT NULL COMMENT '1: it holds webhooks that are not in the inbox'
  ) ENGINE=InnoDB`,

  // heartbeat of the receivers: one row for each minute in which at least one was running
  sql`CREATE TABLE IF NOT EXISTS receiver_minutes (
    minute DATETIME NOT NULL PRIMARY KEY,
    last_arrival_at DATETIME(3) NULL COMMENT 'arrival of the newest webhook in the inbox at that minute'
  ) ENGINE=InnoDB`,
];
