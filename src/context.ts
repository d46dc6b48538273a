import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import type { PoolCounts } from '../embedded/count-connections.ts';
import { joinServer } from '../embedded/join-server.ts';
import { migrate } from '../embedded/migrate.ts';
import { type ConnectionTarget, ensureDatabase, openDatabase } from '../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../embedded/parse-database-url.ts';
import type { Config } from './config.ts';
import { type Clock, openClock } from './database/clock.ts';
import { supportsReturning } from './database/insert-returning.ts';
import { adoptNextKey, findNextKey, readOrCreateSecretKey } from './database/keys/secret-key-file.ts';
import { KEY_CHECK, type Keys, openKeys, readOrCreateSetting, readSetting } from './database/keys/settings.ts';
import { createVault, type Vault } from './database/keys/vault.ts';
import { openPreparedStatements, type PreparedStatements } from './database/open-prepared-statements.ts';
import { refuseUnfinishedRestore } from './database/restores.ts';
import type { Database } from './database/tables.ts';
import { type Calendar, createCalendar } from './domain/calendar.ts';
import { ConfereError } from './domain/errors.ts';
import { createInstanceName, type Log } from './log.ts';
import { createWakeSignal, type WakeSignal } from './runtime/wake-signal.ts';
import { SYSTEM_TIMERS, type Timers } from './timers.ts';

const EMBEDDED_DATABASE = 'confere';
/** Beside the pool, for the receiver's commits: one for each that may run at once. */
export const PREPARED_CONNECTIONS = 3;
export const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

/** Passed to every operation. Opened once at the start of a process, disposed once at its end. */
export type Context = {
  config: Config;
  db: Kysely<Database>;
  /** Whether the server has INSERT … RETURNING. */
  supportsReturning: boolean;
  /** For the few statements that run thousands of times a second. */
  preparedStatements: PreparedStatements;
  /** Of the pool behind `db`. */
  countConnections(): PoolCounts;
  log: Log;
  clock: Clock;
  /** Timers of loops, leases and back-off. */
  timers: Timers;
  calendar: Calendar;
  vault: Vault;
  keys: Keys;
  /** Changes before this instant are backfill: no webhook is expected for them. */
  webhooksSince: Date;
  /** The name of this process in leases, and in its log as `instance`. */
  holder: string;
  /** Notified after a commit that gives a loop of this process something to do. */
  wakeUps: { inbox: WakeSignal; callbacks: WakeSignal; alerts: WakeSignal; runs: WakeSignal };
  signal: AbortSignal;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Connects to the database, or joins the embedded server; migrates its tables (with DATABASE_URL only if `migrates`); opens
 * the other members.
 * @throws ConfereError if migrations are missing, a restore was not finished, or SECRET_KEY is not the key that the database is
 *   encrypted with.
 */
export async function openContext(
  config: Config,
  options: {
    log: Log;
    signal: AbortSignal;
    migrates: boolean;
    timers?: Timers;
    holder?: string;
    /** For the restore itself: a database that it has not finished is refused to all others. */
    isRestoring?: boolean;
  },
): Promise<Context> {
  await using stack = new AsyncDisposableStack();
  const target = await findDatabase(config, options.log, stack);
  const opened = stack.use(openDatabase<Database>({ ...target, connectionLimit: config.POOL_CONNECTIONS }));
  const { db } = opened;
  const preparedStatements = stack.use(openPreparedStatements(target, PREPARED_CONNECTIONS));
  if (!options.isRestoring) await refuseUnfinishedRestore(db);
  const mayMigrate = options.migrates || config.DATABASE_URL === undefined;
  await bringUpToDate(db, mayMigrate, options.log);
  const vault = await findVault(db, config);
  const keys = await openKeys(db, vault);
  const { timers = SYSTEM_TIMERS } = options;
  const clock = await openClock(db, timers);
  const since = await readOrCreateSetting(db, 'webhooks_since', () => Buffer.from(clock.now().toISOString()));
  await readOrCreateSetting(db, 'refund_commission', () =>
    Buffer.from(JSON.stringify([{ from: '0000-01-01', commission: config.REFUND_COMMISSION }])),
  );
  const zone = await readOrCreateSetting(db, 'provider_time_zone', () => Buffer.from(config.PROVIDER_TIME_ZONE));
  if (zone.toString() !== config.PROVIDER_TIME_ZONE) await refuseZoneChange(db, zone.toString(), config);
  const hasReturning = await supportsReturning(db);
  const owned = stack.move();
  return {
    config,
    db,
    supportsReturning: hasReturning,
    preparedStatements,
    countConnections: () => opened.countConnections(),
    log: options.log,
    clock,
    timers,
    calendar: createCalendar(config.PROVIDER_TIME_ZONE),
    vault,
    keys,
    webhooksSince: config.WEBHOOKS_SINCE ?? new Date(since.toString()),
    holder: options.holder ?? createInstanceName(),
    wakeUps: {
      inbox: createWakeSignal(timers),
      callbacks: createWakeSignal(timers),
      alerts: createWakeSignal(timers),
      runs: createWakeSignal(timers),
    },
    signal: options.signal,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Finds the database: that of DATABASE_URL, or of the embedded server, which it joins until `stack` is disposed. */
export async function findDatabase(
  config: Config,
  log: Log,
  stack: AsyncDisposableStack,
): Promise<ConnectionTarget & { database: string }> {
  if (config.DATABASE_URL) {
    const target = readDatabaseUrl(config.DATABASE_URL);
    const hosts = listHostsWithoutNameCheck(target);
    if (hosts.length > 0)
      log.warn({ hosts }, 'the database host is an IP address: TLS verifies the authority, but no name');
    return target;
  }
  const server = stack.use(await joinServer({ dataDir: config.DATA_DIR, log: (message) => log.info(message) }));
  const target = { socketPath: server.socketPath, user: 'root' };
  await ensureDatabase(target, EMBEDDED_DATABASE);
  return { ...target, database: EMBEDDED_DATABASE };
}

function readDatabaseUrl(text: string): ConnectionTarget & { database: string } {
  try {
    return parseDatabaseUrl(text);
  } catch (error) {
    throw new ConfereError('config_invalid', `DATABASE_URL ${(error as Error).message}`);
  }
}

async function bringUpToDate(db: Kysely<Database>, mayMigrate: boolean, log: Log): Promise<void> {
  if (mayMigrate) {
    await migrate(db, { folder: MIGRATIONS, log: (message) => log.info(message) });
    return;
  }
  // the first query of the pool: a wrong DATABASE_URL fails here
  const pending = await migrate(db, { folder: MIGRATIONS, log: () => undefined, dryRun: true });
  if (pending.length > 0) {
    throw new ConfereError('unavailable', `the database is ${pending.length} migrations behind: run confere migrate`);
  }
}

/** Uses the key of the environment, else of DATA_DIR: there the next key, if a rotation was interrupted after encrypting. */
async function findVault(db: Kysely<Database>, config: Config): Promise<Vault> {
  if (config.SECRET_KEY) return createVault(config.SECRET_KEY);
  const vault = createVault(readOrCreateSecretKey(config.DATA_DIR));
  const check = await readSetting(db, KEY_CHECK);
  if (check === undefined || check.equals(vault.check)) return vault;
  const next = findNextKey(config.DATA_DIR, check);
  if (!next) return vault;
  adoptNextKey(config.DATA_DIR, next.file);
  return createVault(next.key);
}

/** The journal is dated by the provider's wall clock: another zone would move entries to other days. */
async function refuseZoneChange(db: Kysely<Database>, stored: string, config: Config): Promise<void> {
  const entry = await db.selectFrom('entries').select('seq').limit(1).executeTakeFirst();
  if (entry) {
    throw new ConfereError(
      'config_invalid',
      `PROVIDER_TIME_ZONE is ${config.PROVIDER_TIME_ZONE}, but this ledger was kept in ${stored}: set it back`,
    );
  }
  const value = Buffer.from(config.PROVIDER_TIME_ZONE);
  await db.updateTable('settings').set({ value }).where('name', '=', 'provider_time_zone').execute();
}
