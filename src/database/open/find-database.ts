import { statSync } from 'node:fs';
import path from 'node:path';
import { joinServer } from '../../../embedded/join-server.ts';
import { type ConnectionTarget, ensureDatabase } from '../../../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import type { Config } from '../../config.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { NoTablesError } from './bring-up-to-date.ts';
import { makeDataDir } from './make-data-dir.ts';
import { refuseRestoreMark } from './restore-mark.ts';
import { refuseRivals } from './watch-hosts.ts';

const EMBEDDED_DATABASE = 'confere';

type Target = ConnectionTarget & { database: string };

/**
 * Finds the database: that of DATABASE_URL, or of the embedded server, which it joins until `stack` is disposed.
 * @param options.creates whether DATA_DIR may get a database. Only what starts an installation may: a command with a wrong
 *   DATA_DIR would work on a new, empty one.
 * @param options.isRestoring the restore itself opens what it has not finished.
 * @throws NoTablesError if there is no embedded database and none may be created; ConfereError for a wrong DATABASE_URL, for
 *   hosts that do not belong together, or while a restore into DATA_DIR has not finished; an error of the embedded server.
 */
export async function findDatabase(
  config: Config,
  log: Log,
  stack: AsyncDisposableStack,
  { creates, isRestoring = false }: { creates: boolean; isRestoring?: boolean },
): Promise<Target> {
  if (!isRestoring) refuseRestoreMark(config.DATA_DIR);
  if (config.DATABASE_URL) return await nameGiven(config.DATABASE_URL, log);
  if (!creates && !hasDatabase(config)) {
    const says = `${path.resolve(config.DATA_DIR)} has no database: set DATA_DIR, or DATABASE_URL; serve creates a new one`;
    throw new NoTablesError(says, { isExpected: true, code: 'wrong_use' });
  }
  if (creates) makeDataDir(config.DATA_DIR);
  const target = await joinEmbedded(config, log, stack);
  if (creates) await ensureDatabase(target, EMBEDDED_DATABASE);
  return target;
}

/** The server keeps each database in a directory. The sandbox's server, under another DATA_DIR, lacks ours. @throws EACCES */
function hasDatabase({ DATA_DIR }: Config): boolean {
  const directory = path.resolve(DATA_DIR, 'mariadb', 'data', EMBEDDED_DATABASE);
  return statSync(directory, { throwIfNoEntry: false }) !== undefined;
}

async function joinEmbedded(config: Config, log: Log, stack: AsyncDisposableStack) {
  const joining = joinServer({ dataDir: config.DATA_DIR, log: (message) => log.info(message) });
  const server = stack.use(await joining.catch(explainServer));
  return { socketPath: server.socketPath, user: 'root', database: EMBEDDED_DATABASE };
}

/** Errors of the embedded server's room say what to do; those of the system, with a code, do not. */
export function explainServer(error: Error & { code?: unknown }): never {
  if (error.code !== undefined) throw error;
  throw new ConfereError('unavailable', error.message, { cause: error });
}

async function nameGiven(url: string, log: Log): Promise<Target> {
  const target = readDatabaseUrl(url);
  const hosts = listHostsWithoutNameCheck(target);
  if (hosts.length > 0)
    log.warn({ hosts }, 'the database host is an IP address: TLS verifies the authority, but no name');
  await refuseRivals(target);
  return target;
}

function readDatabaseUrl(text: string): ConnectionTarget & { database: string } {
  try {
    return parseDatabaseUrl(text);
  } catch (error) {
    throw new ConfereError('config_invalid', `DATABASE_URL ${(error as Error).message}`);
  }
}
