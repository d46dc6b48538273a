import { type Kysely, sql } from 'kysely';

/**
 * An alert is spread once to the channels that are set, a row each; from then on each channel has its own index of what
 * is due. A merchant's recovery waits in its row until it is told.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumn(db, 'alerts', 'spread_at', "DATETIME(3) NULL COMMENT 'NULL: no channel knows of it yet'");
  await addKey(db, 'alerts', 'alerts_spread', 'spread_at');
  await addKey(db, 'alert_sends', 'alert_sends_channel', 'channel, next_attempt_at');
  await addColumn(
    db,
    'merchants',
    'recovered_at',
    "DATETIME(3) NULL COMMENT 'well again, and that is still to be told'",
  );
  // what was told before this migration is not told again; Alertmanager wants what fires each minute
  await sql`UPDATE alerts SET spread_at = raised_at
    WHERE spread_at IS NULL AND seq IN (SELECT alert_seq FROM alert_sends WHERE channel = 'log')`.execute(db);
  await sql`UPDATE alert_sends SET next_attempt_at = UTC_TIMESTAMP(3)
    WHERE channel = 'alertmanager' AND end_sent_at IS NULL`.execute(db);
}

async function addColumn(db: Kysely<unknown>, table: string, column: string, type: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} ${sql.raw(type)}`.execute(db);
}

async function addKey(db: Kysely<unknown>, table: string, key: string, columns: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = ${table} AND index_name = ${key}`.execute(db);
  if (rows.length > 0) return;
  await sql`ALTER TABLE ${sql.table(table)} ADD KEY ${sql.ref(key)} (${sql.raw(columns)})`.execute(db);
}
