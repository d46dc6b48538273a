import { type Kysely, sql } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Message } from '../domain/errors.ts';
import { failure, message } from '../texts/messages.ts';
import { APPEND_ONLY, APPEND_ONLY_TABLES } from './list-grants.ts';

/** The errors by which a server denies a statement on a table or a column. */
const DENIED_ERRNOS = new Set([1142, 1143, 1044, 1227]);

/**
 * Checks what protects the append-only tables from changes: the user's grants, else triggers. It runs statements that
 * match no row, since grants may come through roles.
 * @returns a description of the protection.
 * @throws ConfereError where there is none.
 */
export async function checkGrants(db: Kysely<Database>): Promise<Message[]> {
  const open: string[] = [];
  const byTrigger: string[] = [];
  const { rows } = await sql<{ name: string }>`SELECT trigger_name AS name FROM information_schema.triggers
    WHERE trigger_schema = DATABASE()`.execute(db);
  const triggers = new Set(rows.map((row) => row.name));
  for (const [table, tried] of Object.entries(APPEND_ONLY)) {
    const [name, column] = [sql.table(table), sql.ref(tried)];
    for (const { verb, change } of [
      { verb: 'update', change: sql`UPDATE ${name} SET ${column} = ${column} WHERE 1 = 0` },
      { verb: 'delete', change: sql`DELETE FROM ${name} WHERE 1 = 0` },
    ]) {
      if (await isDenied(() => change.execute(db))) continue;
      (triggers.has(`${table}_no_${verb}`) ? byTrigger : open).push(`${verb} ${table}`);
    }
  }
  if (open.length > 0) throw failure('conflict', message('doctor.not_guarded', { list: open.join(', ') }));
  if (byTrigger.length > 0) return [message('doctor.triggers_alone', { list: byTrigger.join(', ') })];
  return [message('doctor.guarded', { tables: APPEND_ONLY_TABLES.join(', ') })];
}

async function isDenied(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return false;
  } catch (error) {
    if (DENIED_ERRNOS.has((error as { errno?: number }).errno ?? 0)) return true;
    throw error;
  }
}
