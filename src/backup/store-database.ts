import { type Kysely, sql } from 'kysely';
import { chooseHost } from '../../embedded/examine-hosts.ts';
import type { ConnectionTarget } from '../../embedded/open-database.ts';
import { canCopyServer, copyServer } from '../../embedded/programs/copy-server.ts';
import { dumpDatabase } from '../../embedded/programs/dump-database.ts';
import type { Config } from '../config.ts';
import { explainServer } from '../database/open/find-database.ts';
import type { Database } from '../database/tables.ts';
import { wrongUse } from '../domain/errors.ts';
import { type BackupDescription, type BackupMethod, DATABASE_FILES } from './describe-backup.ts';
import type { StoreFile } from './stored-files.ts';

/** A larger embedded database is copied as files, if mariadb-backup is there: loading such a dump takes over 10 minutes. */
const DUMP_BYTES_MAX = 4 * 1024 ** 3;

/** The parts of a database. They must not change while it is copied. */
export type Shape = Omit<BackupDescription['database'], 'method'>;

type Source = {
  config: Config;
  target: ConnectionTarget & { database: string };
  db: Kysely<Database>;
  /** The version of the server. */
  server: string;
  method: BackupMethod | undefined;
  store: StoreFile;
  signal: AbortSignal;
};

/** Stores the database as of one instant after the call. @returns how. */
export async function storeDatabase({
  config,
  target,
  db,
  server,
  method,
  store,
  signal,
}: Source): Promise<BackupMethod> {
  const chosen = method ?? (await chooseMethod(config, db));
  const name = DATABASE_FILES[chosen];
  if (chosen === 'copy') {
    if (config.DATABASE_URL || !('socketPath' in target))
      throw wrongUse('--method copy is for the embedded database alone: use dump');
    const { socketPath } = target;
    const files = { dataDir: config.DATA_DIR, socketPath };
    await copyServer(files, (stream) => storeAs(store, name, stream), signal).catch(explainServer);
  } else {
    // chosen here, after the spool was copied: it has what left the spool
    const host = await chooseHost(target);
    await dumpDatabase(host, server, (statements) => storeAs(store, name, statements), signal).catch(explainServer);
  }
  return chosen;
}

async function storeAs(store: StoreFile, name: string, source: Parameters<StoreFile>[1]): Promise<void> {
  await store(name, source, { compress: true });
}

async function chooseMethod(config: Config, db: Kysely<Database>): Promise<BackupMethod> {
  if (config.DATABASE_URL || !canCopyServer()) return 'dump';
  const { rows } = await sql<{ bytes: string | null }>`SELECT SUM(data_length + index_length) AS bytes
    FROM information_schema.tables WHERE table_schema = DATABASE()`.execute(db);
  return Number(rows[0]?.bytes ?? 0) > DUMP_BYTES_MAX ? 'copy' : 'dump';
}

/** @throws ConfereError if the database has no tables of Confere. */
export async function readShape(db: Kysely<Database>): Promise<Shape> {
  const tables = await readTables(db);
  if (!tables.includes('migrations'))
    throw wrongUse('the database has no tables of Confere: there is nothing to back up');
  const version = await sql<{ server: string }>`SELECT VERSION() AS server`.execute(db);
  const migrations = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(db);
  return {
    server: version.rows[0]?.server ?? '',
    tables,
    migrations: migrations.rows.map((row) => row.name),
  };
}

export async function readTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT TABLE_NAME AS name FROM information_schema.tables
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME`.execute(db);
  return rows.map((row) => row.name);
}
