/**
 * Makes a backup while the service runs. Start reading backup/ here.
 *
 * The order: the database's clock is read, then the spool is copied, then keys and manifests, then the database in one
 * snapshot, last the archive of webhook bodies.
 *  - Everything answered before the clock was read is in the backup: a webhook leaves the spool only after its commit.
 *  - The key is that of the snapshot: its check value is read after both, and a rotation in between fails the backup.
 *  - No manifest names a seal that the snapshot lacks: manifests are copied before it.
 *  - No body is missing: a body only moves from its row to the archive, which is copied last.
 *
 * The tables may be those of the previous release: an upgrade begins with a backup, where the new version may be installed already.
 *
 * All files are written into a draft beside the target, flushed and then renamed: a target that exists is complete.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type Kysely, sql } from 'kysely';
import { type ConnectionTarget, openDatabase } from '../../embedded/open-database.ts';
import { audit } from '../access/audit.ts';
import type { Config } from '../config.ts';
import { openClock } from '../database/clock.ts';
import { explainWrongKey } from '../database/keys/find-vault.ts';
import { secretKeyFile } from '../database/keys/secret-key-file.ts';
import { KEY_CHECK, readSetting } from '../database/keys/settings.ts';
import { createVault } from '../database/keys/vault.ts';
import { findDatabase } from '../database/open/find-database.ts';
import { refuseUnfinishedRestore } from '../database/restores.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError, wrongUse } from '../domain/errors.ts';
import { VERSION } from '../domain/version.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { nameSpool } from '../inbox/spool/spool-owner.ts';
import { describeError, type Log } from '../log.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { readHead } from '../seal/read-seals.ts';
import { type CopiedKey, copyArchives, copyKeysAndManifests, copySpool } from './copy-data-dir.ts';
import { type BackupDescription, type BackupMethod, DESCRIPTION, renderDescription } from './describe-backup.ts';
import { makeDraft, refuseOwnFolder, removeDeadDrafts } from './drafts.ts';
import { flushDirectory } from './flush.ts';
import { recordBackup } from './read-backup-metrics.ts';
import { readShape, storeDatabase } from './store-database.ts';
import { createStore } from './stored-files.ts';
import { writeSums } from './sums.ts';

const CONNECTIONS = 2;

export type BackupOptions = {
  to: string;
  /** The option that named the directory, for errors. */
  option: '--to' | '--into';
  /** Public keys of age. None: the backup is not encrypted. */
  recipients: string[];
  /** By default chosen by the size of the database. */
  method?: BackupMethod | undefined;
};

export type MadeBackup = {
  description: Omit<BackupDescription, 'format'>;
  files: number;
  bytes: number;
  /** SHA-256 of SHA256SUMS. */
  sum: string;
  /** Spools of other machines with webhooks that the database did not have. */
  spoolsElsewhere: number;
  /** A failure after the backup was finished: it is whole all the same. */
  trouble?: string;
};

type Source = { config: Config; target: ConnectionTarget & { database: string }; db: Kysely<Database> };

/**
 * @throws ConfereError if the target exists, or a key was rotated or a migration ran meanwhile. Then nothing is left of the
 *   backup.
 */
export async function makeBackup(
  config: Config,
  options: BackupOptions,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<MadeBackup> {
  const directory = path.resolve(options.to);
  await refuseTaken(directory, options);
  refuseOwnFolder(config, directory, options);
  let published: MadeBackup | undefined;
  try {
    await using stack = new AsyncDisposableStack();
    const source = await openSource(config, log, stack);
    await removeDeadDrafts(path.dirname(directory), log);
    const draft = makeDraft(directory, options);
    try {
      const made = await writeBackup(source, draft, options, signal);
      await publish(draft, directory, options);
      published = made;
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    await flushDirectory(path.dirname(directory));
    await recordBackup(source.db, { startedAt: published.description.started_at, bytes: published.bytes });
  } catch (error) {
    if (!published) throw error;
    const { name, code } = describeError(error);
    return {
      ...published,
      trouble: `what follows a backup failed (${code ?? name}): the metrics may show the one before it`,
    };
  }
  return published;
}

async function openSource(config: Config, log: Log, stack: AsyncDisposableStack): Promise<Source> {
  const target = await findDatabase(config, log, stack, { creates: false });
  const { db } = stack.use(openDatabase<Database>({ ...target, connectionLimit: CONNECTIONS }));
  await refuseUnfinishedRestore(db);
  return { config, target, db };
}

async function writeBackup(
  source: Source,
  draft: string,
  { recipients, method }: BackupOptions,
  signal: AbortSignal,
): Promise<MadeBackup> {
  const { config, db } = source;
  const shape = await readShape(db);
  const head = await readHead(db);
  const startedAt = await readDatabaseTime(db);
  const encrypted = recipients.length > 0;
  await audit(
    { db, clock: await openClock(db) },
    { actor: 'command', action: 'backups.make', target: 'database', detail: JSON.stringify({ encrypted }) },
  );
  const { store, files } = createStore(draft, recipients);
  const spool = await copySpool(config, store);
  const { names, keys } = await copyKeysAndManifests(config, store);
  const used = await storeDatabase({ ...source, server: shape.server, method, store, signal });
  const archives = await copyArchives(config, { db, tables: shape.tables }, store);
  const key = await findKey(source, keys);
  await refuseMigrated(db, shape.migrations);
  const description = {
    version: VERSION,
    started_at: startedAt,
    finished_at: await readDatabaseTime(db),
    encrypted,
    database: { ...shape, method: used },
    head: head ? { position: head.position, hash: head.hash.toString('hex') } : null,
    key,
    data: [...spool, ...names, ...archives],
  };
  const plain = createStore(draft, []);
  await plain.store(DESCRIPTION, Readable.from([Buffer.from(renderDescription(description))]));
  const all = [...files, ...plain.files];
  return {
    description,
    files: all.length,
    bytes: all.reduce((total, file) => total + file.bytes, 0),
    sum: await writeSums(draft, all),
    spoolsElsewhere: await countSpoolsElsewhere(db, nameSpool(spoolDirectory(config))),
  };
}

async function refuseTaken(directory: string, { option }: Pick<BackupOptions, 'option'>): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw wrongUse(`${option}: ${describeFailure(error)}`);
  });
  if (names.length > 0) throw wrongUse(`${directory} is not empty: name a new directory for each backup`);
  const [device, parentDevice] = await Promise.all([directory, path.dirname(directory)].map(findDevice));
  if (device !== undefined && device !== parentDevice) refuseMountPoint(directory, option);
}

async function findDevice(directory: string): Promise<number | undefined> {
  return (await stat(directory).catch(() => undefined))?.dev;
}

/** The draft gets the name of the backup by a rename, which a mount point refuses. */
function refuseMountPoint(directory: string, option: string): never {
  throw wrongUse(
    `${option} ${directory} is a mount point: name a new directory in it, such as ${path.join(directory, 'NAME')}`,
  );
}

/**
 * Finds the key that the snapshot is encrypted with, among the files that were copied before it. A key that was rotated
 * meanwhile is not found: the database's check value is that of the new one.
 */
async function findKey({ config, db }: Source, copied: CopiedKey[]): Promise<BackupDescription['key']> {
  const check = await readSetting(db, KEY_CHECK);
  const own = config.SECRET_KEY ? [{ name: null, key: config.SECRET_KEY }] : copied;
  for (const { name, key } of own) {
    const vault = createVault(key);
    if (check?.equals(vault.check)) return { id: vault.keyId, file: name };
  }
  const current = own.find(
    ({ name }) => name === null || path.basename(name) === path.basename(secretKeyFile(config.DATA_DIR)),
  );
  const { message } = await explainWrongKey(db, config, current?.key);
  throw new ConfereError('config_invalid', `${message}. If the key was rotated during the backup, back up again`);
}

async function refuseMigrated(db: Kysely<Database>, before: string[]): Promise<void> {
  const { migrations } = await readShape(db);
  if (migrations.length !== before.length)
    throw new ConfereError('conflict', 'the tables were migrated during the backup: back up again');
}

/** Spools report each second while they hold webhooks. */
async function countSpoolsElsewhere(db: Kysely<Database>, own: string): Promise<number> {
  const { count } = await db
    .selectFrom('spools')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('is_waiting', '=', 1)
    .where('name', '!=', own)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function readDatabaseTime(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`SELECT UTC_TIMESTAMP(3) AS at`.execute(db);
  if (!rows[0]) throw new ConfereError('unavailable', 'the database did not answer with its time');
  return rows[0].at;
}

/** Makes the draft the backup: its files are durable before it gets its name. */
async function publish(draft: string, directory: string, { option }: Pick<BackupOptions, 'option'>): Promise<void> {
  const folders = (await readdir(draft, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
  for (const folder of [...folders, draft]) await flushDirectory(folder);
  // an empty directory of this name gives way
  await rename(draft, directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EBUSY') refuseMountPoint(directory, option);
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    throw new ConfereError(
      'conflict',
      `another backup made ${directory} meanwhile: name a new directory for each backup`,
    );
  });
}
