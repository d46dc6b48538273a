/**
 * Restores a backup into an empty place: an empty DATA_DIR, and an empty database.
 *
 * Everything that can be checked is checked before anything is written: the sums, the version, the key, the place. Then two
 * marks, in DATA_DIR and in the database, keep others out until the restore is finished. Last, the restore is recorded: a
 * service that starts afterwards holds its callbacks.
 *
 * A restore that fails removes what it placed. One that was killed leaves its marks: the next restore into the same DATA_DIR
 * removes what it placed, and begins anew.
 */
import type { Kysely } from 'kysely';
import { chooseHost } from '../../embedded/examine-hosts.ts';
import { listUnknownMigrations } from '../../embedded/migrations/plan-migrations.ts';
import { type ConnectionTarget, ensureDatabase, openDatabase } from '../../embedded/open-database.ts';
import { parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import { placeServerCopy, readServerVersion, seriesOf } from '../../embedded/programs/copy-server.ts';
import { loadDump } from '../../embedded/programs/dump-database.ts';
import { bringBackAudit } from '../access/bring-back-audit.ts';
import type { Config } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { createVault } from '../database/keys/vault.ts';
import { MIGRATIONS } from '../database/open/bring-up-to-date.ts';
import { explainServer, findDatabase } from '../database/open/find-database.ts';
import {
  clearUnfinishedRestore,
  markUnfinishedRestore,
  type Restore,
  unmarkUnfinishedRestore,
} from '../database/restores.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError, wrongUse } from '../domain/errors.ts';
import { VERSION } from '../domain/version.ts';
import { describeError, type Log } from '../log.ts';
import { readSeal } from '../seal/read-seals.ts';
import { type BackupDescription, DATABASE_FILES, DESCRIPTION, readDescription } from './describe-backup.ts';
import { explainFullDisk } from './explain-full-disk.ts';
import { placeFiles } from './place-data-dir.ts';
import { recordBackup } from './read-backup-metrics.ts';
import { queueGapRuns, type RecordedRestore, recordRestore } from './record-restore.ts';
import { createMissingTriggers, refuseClientCommands, removePrograms } from './refuse-commands.ts';
import { readTables } from './store-database.ts';
import { createReader, type ReadFile } from './stored-files.ts';
import { verifySums } from './sums.ts';
import { type Place, takePlace } from './take-place.ts';

const CONNECTIONS = 2;
export type RestoreOptions = {
  from: string;
  /** Text of an identity file of age. */
  identity?: string | undefined;
  /** SHA-256 of SHA256SUMS, as `backup` printed it. */
  sum?: string | undefined;
  /** Called at the end of each step. */
  onStep?: (step: RestoreStep, says: string) => void;
  /** A drill's check: called with the restored database, which is then removed with everything else that was placed. */
  rehearse?: (context: Context, restore: Restore) => Promise<void>;
};
export type RestoreStep = 'sums' | 'database' | 'files' | 'tables';

export type RestoredBackup = { description: BackupDescription; restore: RecordedRestore };

type Target = ConnectionTarget & { database: string };
type Opened = {
  config: Config;
  description: BackupDescription;
  read: ReadFile;
  /** Bytes of its files. */
  bytes: number;
  log: Log;
  signal: AbortSignal;
} & Pick<RestoreOptions, 'onStep' | 'rehearse'>;

/** @throws ConfereError `wrong_use` before anything is written, if the backup or the place cannot be used. */
export async function restoreBackup(
  config: Config,
  { from, identity, sum, ...more }: RestoreOptions,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<RestoredBackup> {
  const { bytes, sums } = await verifySums(from, sum);
  const description = await readDescription(from, sums);
  more.onStep?.('sums', `${sums.size} files, ${(bytes / 2 ** 20).toFixed(1)} MiB, each with its sum`);
  refuseEncryption(description, identity);
  await refuseVersion(description);
  const read = createReader(from, identity, sums);
  const opened = { config, description, read, bytes, log, signal, ...more };
  await refuseKey(opened);
  refuseOtherServer(config, description);
  // a wrong identity is found here
  const databaseBytes = await read.check(DATABASE_FILES[description.database.method]);
  using place = await takePlace(config, description, { bytes: databaseBytes, log });
  try {
    if (description.database.method === 'copy') await placeCopy(opened);
    else if (config.DATABASE_URL) await ensureTarget(config.DATABASE_URL);
    const restore = await restoreInto(place, opened);
    await (more.rehearse ? place.discard() : place.finish());
    return { description, restore };
  } catch (failure) {
    const error = await explainFullDisk(failure, config);
    // what cannot be removed now keeps its mark: the next restore removes it
    await place
      .discard()
      .catch((left: unknown) => log.warn({ error: describeError(left) }, 'DATA_DIR was not cleared'));
    throw error;
  }
}

/** Opens the database, which must be empty or left by the same restore, and fills it. What fails is removed again. */
async function restoreInto(place: Place, opened: Opened): Promise<RecordedRestore> {
  const { config, description, log } = opened;
  await using stack = new AsyncDisposableStack();
  const target = await findDatabase(config, log, stack, { creates: true, isRestoring: true });
  const { db } = stack.use(openDatabase<Database>({ ...target, connectionLimit: CONNECTIONS }));
  if (description.database.method === 'dump') {
    await clearUnfinishedRestore(db, place.id);
    const present = await readTables(db);
    if (present.length > 0)
      throw wrongUse(`the database is not empty (${present.length} tables): restore into an empty one`);
  }
  await markUnfinishedRestore(db, place.id);
  try {
    const restore = await fillDatabase(db, target, place, opened);
    if (!opened.rehearse) await unmarkUnfinishedRestore(db);
    else if (config.DATABASE_URL) await clearUnfinishedRestore(db, place.id);
    return restore;
  } catch (error) {
    // an embedded one is removed with its files
    if (config.DATABASE_URL) await clearUnfinishedRestore(db, place.id).catch(() => place.keep());
    throw error;
  }
}

/** Fills the marked database and DATA_DIR, and records the restore. */
async function fillDatabase(
  db: Kysely<Database>,
  target: Target,
  place: Place,
  opened: Opened,
): Promise<RecordedRestore> {
  const { config, description, read, log, signal, onStep } = opened;
  if (description.database.method === 'dump') {
    const name = DATABASE_FILES.dump;
    const options = { compressed: true, check: refuseClientCommands };
    const loading = loadDump(await chooseHost(target), (into) => read.copy(name, into, options), signal);
    await loading.catch(explainServer);
  }
  await removePrograms(db);
  await refuseIncomplete(db, description);
  onStep?.('database', `${description.database.tables.length} tables, ${description.database.method}`);
  await placeFiles(place.files, read);
  onStep?.('files', `${place.files.length} files`);
  await using context = await openContext(config, { log, signal, migrates: true, isRestoring: true });
  await createMissingTriggers(db, log);
  await bringBackAudit(context);
  if (description.head) {
    const seal = await readSeal(context.db, description.head.position);
    if (seal?.hash.toString('hex') !== description.head.hash)
      throw new ConfereError(
        'books_broken',
        `the restored chain has not the seal ${description.head.position} of the backup`,
      );
  }
  // its own record was written after its snapshot
  await recordBackup(db, { startedAt: description.started_at, bytes: opened.bytes });
  const restore = await recordRestore(context, description.started_at);
  await queueGapRuns(context, restore);
  onStep?.('tables', `of version ${VERSION}, with its triggers`);
  await opened.rehearse?.(context, restore);
  return restore;
}

function refuseEncryption({ encrypted }: BackupDescription, identity: string | undefined): void {
  if (encrypted && identity === undefined)
    throw wrongUse('the backup is encrypted: name the file of its key with --identity');
  if (!encrypted && identity !== undefined)
    throw wrongUse('the backup is not encrypted, which --identity expects: was it replaced?');
}

async function refuseVersion({ version, database }: BackupDescription): Promise<void> {
  const unknown = await listUnknownMigrations(MIGRATIONS, database.migrations);
  if (unknown.length === 0) return;
  throw wrongUse(
    `the backup was made by Confere ${version}, which has tables that this version (${VERSION}) does not know (${unknown.at(-1)}): restore it with that version or a newer one`,
  );
}

/** The key is the backup's file, or SECRET_KEY, which must be the same. */
async function refuseKey({ config, description, read }: Opened): Promise<void> {
  const { id, file } = description.key;
  const own = file === null ? undefined : Buffer.from((await read.read(file)).toString().trim(), 'base64');
  const key = config.SECRET_KEY ?? own;
  if (key === undefined) throw wrongUse(`the backup has no key: set SECRET_KEY to the one with the id ${id}`);
  if (createVault(key).keyId === id) return;
  const where = own ? ', which is in the secret.key of the backup' : '';
  throw wrongUse(`SECRET_KEY is not the key of the backup, whose id is ${id}${where}`);
}

/** Files of a server are usable for an embedded server of the same series alone. */
function refuseOtherServer({ DATABASE_URL }: Config, { database }: BackupDescription): void {
  if (database.method !== 'copy') return;
  const [made, here] = [seriesOf(database.server), seriesOf(DATABASE_URL ? '' : readServerVersion())];
  if (made !== '' && made === here) return;
  throw wrongUse(
    `the backup has the files of an embedded server ${database.server}: restore it without DATABASE_URL on a machine with MariaDB ${made}`,
  );
}

async function placeCopy({ config, read, signal }: Opened): Promise<void> {
  const name = DATABASE_FILES.copy;
  const placing = placeServerCopy(config.DATA_DIR, (into) => read.copy(name, into, { compressed: true }), signal);
  await placing.catch(explainServer);
}

/** Creates the database of the address, if the user may and it is not there. */
async function ensureTarget(databaseUrl: string): Promise<void> {
  const { database, ...server } = parseDatabaseUrl(databaseUrl);
  const host = await chooseHost(server as ConnectionTarget);
  await ensureDatabase(host, database).catch(() => undefined);
}

async function refuseIncomplete(db: Kysely<Database>, { database }: BackupDescription): Promise<void> {
  const present = new Set(await readTables(db));
  const missing = database.tables.filter((name) => !present.has(name));
  if (missing.length > 0)
    throw new ConfereError('unavailable', `${DESCRIPTION} names tables that the database lacks: ${missing.join(', ')}`);
}
