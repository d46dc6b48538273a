import { existsSync } from 'node:fs';
import path from 'node:path';
import { joinServer } from '../../../embedded/join-server.ts';
import { type ConnectionTarget, ensureDatabase } from '../../../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import type { Config } from '../../config.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';

const EMBEDDED_DATABASE = 'confere';

type Target = ConnectionTarget & { database: string };

/**
 * Finds the database: that of DATABASE_URL, or of the embedded server, which it joins until `stack` is disposed.
 * @throws ConfereError for a wrong DATABASE_URL; an error of the embedded server.
 */
export async function findDatabase(config: Config, log: Log, stack: AsyncDisposableStack): Promise<Target> {
  if (config.DATABASE_URL) return nameGiven(config.DATABASE_URL, log);
  const target = await joinEmbedded(config, log, stack);
  await ensureDatabase(target, EMBEDDED_DATABASE);
  return target;
}

/** Like findDatabase, and creates nothing. @returns undefined if there is no embedded database yet. */
export async function findExistingDatabase(
  config: Config,
  log: Log,
  stack: AsyncDisposableStack,
): Promise<Target | undefined> {
  if (config.DATABASE_URL) return nameGiven(config.DATABASE_URL, log);
  if (!existsSync(path.join(config.DATA_DIR, 'mariadb', 'data'))) return undefined;
  return await joinEmbedded(config, log, stack);
}

async function joinEmbedded(config: Config, log: Log, stack: AsyncDisposableStack) {
  const server = stack.use(await joinServer({ dataDir: config.DATA_DIR, log: (message) => log.info(message) }));
  return { socketPath: server.socketPath, user: 'root', database: EMBEDDED_DATABASE };
}

function nameGiven(url: string, log: Log): Target {
  const target = readDatabaseUrl(url);
  const hosts = listHostsWithoutNameCheck(target);
  if (hosts.length > 0)
    log.warn({ hosts }, 'the database host is an IP address: TLS verifies the authority, but no name');
  return target;
}

function readDatabaseUrl(text: string): ConnectionTarget & { database: string } {
  try {
    return parseDatabaseUrl(text);
  } catch (error) {
    throw new ConfereError('config_invalid', `DATABASE_URL ${(error as Error).message}`);
  }
}
