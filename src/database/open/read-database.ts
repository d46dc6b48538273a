import type { Kysely } from 'kysely';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../tables.ts';
import { explainFailure } from './explain-failure.ts';
import { findExistingDatabase } from './find-database.ts';

/**
 * Reads the database as it is, at any version: nothing is created and nothing migrated.
 * @returns what `work` returns; undefined if there is no embedded database yet.
 * @throws ConfereError if the database refuses the user, does not exist, or has tables of a newer version.
 */
export async function readDatabase<T>(
  config: Config,
  log: Log,
  work: (db: Kysely<Database>) => Promise<T>,
): Promise<T | undefined> {
  await using stack = new AsyncDisposableStack();
  const target = await findExistingDatabase(config, log, stack);
  if (!target) return undefined;
  const { db } = stack.use(openDatabase<Database>({ ...target, connectionLimit: 2 }));
  try {
    return await work(db);
  } catch (error) {
    throw explainFailure(error, target);
  }
}
