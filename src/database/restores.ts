/**
 * Restores of this database from a backup, and what follows from them.
 *
 * A restored database does not know what happened between its backup and the moment from which webhooks arrive again: the
 * gap. Until a person confirms the restore, no callback is sent.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import { ConfereError } from '../domain/errors.ts';
import type { Reader } from './reader.ts';
import type { Database } from './tables.ts';

export type Restore = Selectable<Database['restores']>;

/** A table that exists from the beginning of a restore to its end. */
const MARK = 'restore_unfinished';

/** Reads all restores, the oldest first. */
export async function readRestores(db: Reader): Promise<Restore[]> {
  return await db.selectFrom('restores').selectAll().orderBy('seq').execute();
}

/** Returns the restore that is not confirmed: there is at most one. */
export async function findUnconfirmedRestore(db: Reader): Promise<Restore | undefined> {
  return await db.selectFrom('restores').selectAll().where('confirmed_at', 'is', null).executeTakeFirst();
}

/** Whether callbacks are held: a restore is not confirmed. */
export async function isAwaitingConfirmation(db: Reader): Promise<boolean> {
  return (await findUnconfirmedRestore(db)) !== undefined;
}

/** Asks it as a column of a query. */
export function awaitsConfirmation() {
  return sql<number>`EXISTS (SELECT 1 FROM restores WHERE restores.confirmed_at IS NULL)`;
}

/** Whether any instant from `from` to `to` is in the gap of a restore. A gap that has no end yet reaches to now. */
export function touchesGap(restores: Restore[], from: Date, to: Date): boolean {
  return restores.some(({ gap_from, gap_to }) => to >= gap_from && (gap_to === null || from <= gap_to));
}

/** Marks a database as being restored: then nothing but the restore of this id opens it. */
export async function markUnfinishedRestore(db: Kysely<Database>, id: string): Promise<void> {
  await sql`CREATE TABLE ${sql.table(MARK)} (id TINYINT NOT NULL PRIMARY KEY) COMMENT = ${sql.lit(id)}`.execute(db);
}

export async function unmarkUnfinishedRestore(db: Kysely<Database>): Promise<void> {
  await sql`DROP TABLE ${sql.table(MARK)}`.execute(db);
}

/** @throws ConfereError while a restore of this database runs, or where one was interrupted. */
export async function refuseUnfinishedRestore(db: Kysely<Database>): Promise<void> {
  if ((await findMark(db)) === undefined) return;
  throw new ConfereError(
    'config_invalid',
    'this database is being restored, or a restore of it was interrupted: let it finish, or run it again with the same DATA_DIR. Without that, empty the database first',
  );
}

/**
 * Removes everything of a database that the restore of this id began to fill; its mark last.
 * @throws ConfereError where another one did.
 */
export async function clearUnfinishedRestore(db: Kysely<Database>, id: string): Promise<void> {
  if ((await findMark(db)) !== id) return await refuseUnfinishedRestore(db);
  for (const { kind, name } of await listPrograms(db)) await sql`DROP ${sql.raw(kind)} ${sql.id(name)}`.execute(db);
  const { rows } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name = ${MARK}`.execute(db);
  for (const { name } of rows) await sql`DROP TABLE ${sql.table(name)}`.execute(db);
}

type Program = { kind: 'TRIGGER' | 'VIEW' | 'PROCEDURE' | 'FUNCTION' | 'EVENT'; name: string };

/** Returns what a database holds beside tables. */
export async function listPrograms(db: Kysely<Database>): Promise<Program[]> {
  const { rows } = await sql<Program>`
    SELECT 'TRIGGER' AS kind, trigger_name AS name FROM information_schema.triggers WHERE trigger_schema = DATABASE()
    UNION ALL SELECT 'VIEW', table_name FROM information_schema.views WHERE table_schema = DATABASE()
    UNION ALL SELECT routine_type, routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()
    UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = DATABASE()`.execute(db);
  return rows;
}

/** @returns the id of the restore that marked the database. */
async function findMark(db: Kysely<Database>): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`SELECT table_comment AS id FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = ${MARK}`.execute(db);
  return rows[0]?.id;
}
