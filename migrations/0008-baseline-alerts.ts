import { type Kysely, sql } from 'kysely';

/** The outbox of alerts: one row per cause, and the progress of each channel. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of TABLES) await table.execute(db);
}

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS alerts (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARBINARY(40) NOT NULL,
    name VARBINARY(64) NOT NULL COMMENT 'a mismatch kind, or another alert kind',
    severity VARBINARY(16) NOT NULL,
    scope VARBINARY(200) NOT NULL,
    firing_scope VARBINARY(220) NULL COMMENT 'name and scope while the alert fires; unique among firing alerts',
    summary VARCHAR(500) NOT NULL,
    mismatch_id VARBINARY(40) NULL,
    transaction_id VARBINARY(64) NULL,
    raised_at DATETIME(3) NOT NULL,
    ended_at DATETIME(3) NULL,
    spread_at DATETIME(3) NULL COMMENT 'when the rows of alert_sends were made; NULL: not yet',
    UNIQUE KEY alerts_id (id),
    UNIQUE KEY alerts_firing (firing_scope),
    KEY alerts_ended (ended_at),
    KEY alerts_spread (spread_at)
  ) ENGINE=InnoDB`,

  // one row per alert and channel
  sql`CREATE TABLE IF NOT EXISTS alert_sends (
    alert_seq BIGINT NOT NULL,
    channel VARBINARY(32) NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NULL COMMENT 'NULL: nothing left to send',
    sent_at DATETIME(3) NULL,
    end_sent_at DATETIME(3) NULL,
    error VARCHAR(500) NULL,
    lease_until DATETIME(3) NULL,
    PRIMARY KEY (alert_seq, channel),
    KEY alert_sends_due (next_attempt_at),
    KEY alert_sends_channel (channel, next_attempt_at)
  ) ENGINE=InnoDB`,
];
