import { type Kysely, sql } from 'kysely';

/** As in 0013: a server that does not allow triggers has no guard, and `doctor` reports it. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

/** Rows of the audit are never deleted: those that an archive has could be, for the archive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ body: string }>`SELECT ACTION_STATEMENT AS body FROM information_schema.TRIGGERS
    WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME = 'audit_no_delete'`.execute(db);
  if (rows.length > 0 && !rows[0]?.body.includes('audit_archives')) return;
  try {
    if (rows.length > 0) await sql`DROP TRIGGER audit_no_delete`.execute(db);
    await sql`CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit FOR EACH ROW
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit is append-only'`.execute(db);
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
  }
}
