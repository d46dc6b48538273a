import type { Kysely } from 'kysely';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../tables.ts';
import { explainFailure } from './explain-failure.ts';
import { findDatabase } from './find-database.ts';

/**
 * Reads the database as it is, at any version: nothing is created and nothing migrated.
 * @returns what `work` returns.
 * @throws NoTablesError if there is no embedded database; ConfereError if the database refuses the user, does not exist, or has tables of a newer version.
 */
export async function readDatabase<T>(
  config: Config,
  log: Log,
  work: (db: Kysely<Database>) => Promise<T>,
): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const target = await findDatabase(config, log, stack, { creates: false });
  const { db } = stack.use(openDatabase<Database>({ ...target, connectionLimit: 2 }));
  try {
    return await work(db);
  } catch (error) {
    throw explainFailure(error, target);
  }
}
