/** Keeps what a backup could run beside the statements of its rows: commands of the client, and programs of the database. */
import { type Kysely, sql } from 'kysely';
import { findMissingTriggers } from '../../embedded/migrations/preview-migrations.ts';
import { MIGRATIONS } from '../database/open/bring-up-to-date.ts';
import { listPrograms } from '../database/restores.ts';
import type { Database } from '../database/tables.ts';
import { wrongUse } from '../domain/errors.ts';
import type { Log } from '../log.ts';

/** A server that allows no triggers, or not to this user: `doctor` reports that the tables have no guard. */
const NOT_ALLOWED_ERRNOS = new Set([1419, 1142, 1227, 1044]);

const [NEWLINE, BACKSLASH] = [0x0a, 0x5c];
const COMMAND = Buffer.from([NEWLINE, BACKSLASH]);

/**
 * Passes a dump on. A line that begins with a backslash is a command of the client, such as `\\! sh`: no dump has one, since
 * texts are written with escapes.
 * @throws ConfereError `wrong_use` before the client gets it.
 */
export async function* refuseClientCommands(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let isAtStart = true;
  for await (const chunk of chunks) {
    if (chunk.includes(COMMAND) || (isAtStart && chunk[0] === BACKSLASH))
      throw wrongUse('the dump has a command of the database client: it is not from Confere');
    if (chunk.length > 0) isAtStart = chunk.at(-1) === NEWLINE;
    yield chunk;
  }
}

/**
 * Removes the triggers of a restored database: those of the migrations are made again.
 * @throws ConfereError `wrong_use` where it has a view, a routine or an event: Confere makes none.
 */
export async function removePrograms(db: Kysely<Database>): Promise<void> {
  const programs = await listPrograms(db);
  const other = programs.find(({ kind }) => kind !== 'TRIGGER');
  if (other)
    throw wrongUse(
      `the backup has the ${other.kind.toLowerCase()} ${other.name}, and Confere makes none: it is not from Confere`,
    );
  for (const { name } of programs) await sql`DROP TRIGGER ${sql.id(name)}`.execute(db);
}

/** Makes the triggers of the migrations. None of the backup's own are kept: they are statements that others may have written. */
export async function createMissingTriggers(db: Kysely<Database>, log: Log): Promise<void> {
  for (const [name, query] of await findMissingTriggers(db, MIGRATIONS)) {
    await sql`DROP TRIGGER IF EXISTS ${sql.id(name)}`.execute(db).catch(() => undefined);
    if (!(await unlessForbidden(db.executeQuery(query))))
      log.warn(
        { trigger: name },
        'this server, or this user, allows no trigger that guards a table: see doctor, grants',
      );
  }
}

/** @returns whether the server allowed it. */
async function unlessForbidden(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (!NOT_ALLOWED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) throw error;
    return false;
  }
}
