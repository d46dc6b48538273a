import { type Kysely, sql } from 'kysely';

/**
 * What measures the quarantine and drops bodies reads an index: neither bodies, nor rows that were dropped before. And
 * first ids that had no look yet are found among many items that are due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // stored, not virtual: an index over a virtual column has its background purge compute it from bodies
  const { rows } = await sql`SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
    AND table_name = 'webhooks' AND column_name = 'body_bytes'`.execute(db);
  if (rows.length === 0)
    await sql`ALTER TABLE webhooks ADD COLUMN body_bytes INT AS (LENGTH(body)) STORED COMMENT 'of body'`.execute(db);
  await addIndex(db, 'webhooks', 'webhooks_kept', 'state, dropped_at, source_address, seq, reason, body_bytes');
  await addIndex(db, 'webhook_items', 'webhook_items_first', 'state, looks, position, next_look_at');
}

/** CREATE INDEX IF NOT EXISTS is MariaDB's alone. */
async function addIndex(db: Kysely<unknown>, table: string, name: string, columns: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE()
    AND table_name = ${table} AND index_name = ${name}`.execute(db);
  if (rows.length > 0) return;
  await sql`CREATE INDEX ${sql.ref(name)} ON ${sql.table(table)} (${sql.raw(columns)})`.execute(db);
}
