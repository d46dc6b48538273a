import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import { migrate } from '../../../embedded/migrations/migrate.ts';
import { planMigrations } from '../../../embedded/migrations/plan-migrations.ts';
import { ConfereError, type ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../tables.ts';
import { isRightMissing } from './explain-failure.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** The database lacks tables of this version, or is not there. `isExpected`: `serve` makes them when it starts. */
export class NoTablesError extends ConfereError {
  readonly isExpected: boolean;

  constructor(message: string, options: { isExpected: boolean; code?: ErrorCode }) {
    super(options.code ?? 'unavailable', message);
    this.isExpected = options.isExpected;
  }
}

/**
 * Runs the pending migrations; or, unless `migrates`, requires that there are none.
 * @param options.name who connects to what, for errors.
 * @throws NoTablesError if some are pending and may not run; ConfereError if the user may not run them.
 */
export async function bringUpToDate(
  db: Kysely<Database>,
  options: { migrates: boolean; isEmbedded: boolean; log: Log; name: string },
): Promise<void> {
  const { migrates, isEmbedded, log, name } = options;
  // the first query of the pool: a wrong DATABASE_URL fails here
  const pending = await listPending(db);
  if (!migrates) {
    if (pending.length === 0) return;
    const next = isEmbedded ? 'serve runs them when it starts' : 'run confere migrate';
    throw new NoTablesError(`the database is ${pending.length} migrations behind: ${next}`, { isExpected: isEmbedded });
  }
  try {
    await migrate(db, { folder: MIGRATIONS, log: (message) => log.info(message) });
  } catch (error) {
    if (!isRightMissing(error)) throw error;
    throw new ConfereError(
      'unavailable',
      `${describePending(pending)}, and ${name} may not change tables (${(error as Error).message}): ` +
        "run confere migrate as the database's owner, and then what confere migrate --grants prints",
      { cause: error },
    );
  }
}

/** @returns the names of the migrations that the database lacks, in order. */
export async function listPending(db: Kysely<Database>): Promise<string[]> {
  // cast: migrations create the tables, so no table type holds while they are pending
  return (await planMigrations(db as unknown as Kysely<unknown>, { folder: MIGRATIONS })).pending;
}

/** `3 migrations are pending (0084-… to 0086-…)`. */
export function describePending(pending: string[]): string {
  const [first, last] = [pending[0], pending.at(-1)];
  if (pending.length === 1) return `1 migration is pending (${first})`;
  return `${pending.length} migrations are pending (${first} to ${last})`;
}
