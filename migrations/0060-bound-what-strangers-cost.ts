import { type Kysely, sql } from 'kysely';

/** What a sender of webhooks may still cost: shows of unknown ids, garbage; and which bodies were dropped. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS senders (
    address VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'an IPv6 address as its /64',
    hit_at DATETIME(3) NULL COMMENT 'when the provider last knew what a webhook of this sender named',
    hour_at DATETIME(3) NOT NULL COMMENT 'when the hour began that is counted',
    shows INT NOT NULL DEFAULT 0 COMMENT 'of ids that the provider does not know, in that hour',
    garbage_bytes BIGINT NOT NULL DEFAULT 0 COMMENT 'that name no transaction, in that hour',
    KEY senders_hour (hour_at)
  ) ENGINE=InnoDB`.execute(db);
  await addColumn(db, 'webhooks', 'dropped_at', "DATETIME(3) NULL COMMENT 'its body was dropped, its hash stays'");
  await addColumn(db, 'webhook_items', 'misses', "INT NOT NULL DEFAULT 0 COMMENT 'looks that the provider denied'");
  await addColumn(db, 'webhook_items', 'granted', "TINYINT NOT NULL DEFAULT 0 COMMENT 'a person asked for a look'");
}

/** ADD COLUMN IF NOT EXISTS is MariaDB's alone. */
async function addColumn(db: Kysely<unknown>, table: string, column: string, definition: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${sql.raw(definition)}`.execute(db);
}
