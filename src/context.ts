import type { Kysely } from 'kysely';
import type { PoolCounts } from '../embedded/count-connections.ts';
import { createHostChoice, type HostChoice } from '../embedded/fail-over.ts';
import { type ConnectionTarget, listHosts, openDatabase } from '../embedded/open-database.ts';
import type { Config } from './config.ts';
import { type Clock, openClock } from './database/clock.ts';
import { supportsReturning } from './database/insert-returning.ts';
import { findVault } from './database/keys/find-vault.ts';
import { watchOlderProcesses } from './database/keys/older-processes.ts';
import {
  type Keys,
  openKeys,
  readOrCreateSetting,
  readOrProposeSetting,
  readSetting,
} from './database/keys/settings.ts';
import type { Vault } from './database/keys/vault.ts';
import { bringUpToDate } from './database/open/bring-up-to-date.ts';
import { explainFailure, nameDatabase } from './database/open/explain-failure.ts';
import { findDatabase } from './database/open/find-database.ts';
import { openPreparedStatements, type PreparedStatements } from './database/open/open-prepared-statements.ts';
import { watchHosts } from './database/open/watch-hosts.ts';
import { refuseUnfinishedRestore } from './database/restores.ts';
import type { Database } from './database/tables.ts';
import { type Calendar, createCalendar } from './domain/calendar.ts';
import { ConfereError } from './domain/errors.ts';
import { createInstanceName, type Log } from './log.ts';
import { createPoll, type Poll } from './runtime/poll.ts';
import { createWakeSignal, type WakeSignal } from './runtime/wake-signal.ts';
import { createWriteState, type WriteState } from './runtime/write-state.ts';
import { SYSTEM_TIMERS, type Timers } from './timers.ts';

/** Beside the pool, for the receiver's commits: one for each that may run at once. */
export const PREPARED_CONNECTIONS = 3;

/**
 * Beside the pool, for the ledger's writer: how many batches of observations may be applied at once. Each may need one of the
 * pool too, for a new account: with both from one pool they once waited for each other for ever.
 */
export const LEDGER_CONNECTIONS = 8;
/** Connections of the general pool, where DATABASE_URL names no other number. */
export const POOL_CONNECTIONS = 20;

/** Passed to every operation. Opened once at the start of a process, disposed once at its end. */
export type Context = {
  config: Config;
  db: Kysely<Database>;
  /**
   * As `db`, on connections that take several statements in one text (`runTogether`). Only the ledger's writer uses them, and
   * takes no other connection of them while it holds one.
   */
  ledgerDb: Kysely<Database>;
  /** Whether the server has INSERT … RETURNING. */
  supportsReturning: boolean;
  /** For the few statements that run thousands of times a second. */
  preparedStatements: PreparedStatements;
  /** Counts the pool of `db`. */
  countConnections(): PoolCounts;
  /** Counts the pool of `ledgerDb`. */
  countLedgerConnections(): PoolCounts;
  /** Whether the database greets a new connection within `msMax`: one that is frozen does not. */
  isDatabaseGreeting(msMax: number): Promise<boolean>;
  /** Which of several database hosts is used. */
  hosts: Readonly<HostChoice>;
  /** Names user and server, for errors: `user app at db1:3306`. */
  databaseName: string;
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
  /** Whether the database takes writes of this process. */
  writes: WriteState;
  /** Asks for what no wake-up signal of this process announces. */
  poll: Poll;
  signal: AbortSignal;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ContextOptions = {
  log: Log;
  signal: AbortSignal;
  /**
   * Creates the embedded database if there is none, and with DATABASE_URL runs pending migrations. On an embedded database
   * that is there they always run, unless `readOnly`.
   */
  migrates: boolean;
  /** Opening creates, migrates and writes nothing. An embedded server that is stopped is started all the same. */
  readOnly?: boolean;
  timers?: Timers;
  holder?: string;
  /** For the restore itself: a database that it has not finished is refused to all others. */
  isRestoring?: boolean;
};

/**
 * Connects to the database, or joins the embedded server; migrates its tables (with DATABASE_URL only if `migrates`); opens
 * the other members.
 * @throws NoTablesError if there is no database and `migrates` is not set, or migrations are missing; ConfereError if the tables are of a newer version, the database refuses
 * the user, a restore was not finished, or SECRET_KEY is not the key that the database is encrypted with.
 */
export async function openContext(config: Config, options: ContextOptions): Promise<Context> {
  await using stack = new AsyncDisposableStack();
  const { migrates: creates, isRestoring = false } = options;
  const target = await findDatabase(config, options.log, stack, { creates, isRestoring });
  try {
    return await openOn(target, config, options, stack);
  } catch (error) {
    throw explainFailure(error, target);
  }
}

async function openOn(
  target: ConnectionTarget,
  config: Config,
  options: ContextOptions,
  stack: AsyncDisposableStack,
): Promise<Context> {
  const { log, readOnly = false, timers = SYSTEM_TIMERS } = options;
  const isEmbedded = config.DATABASE_URL === undefined;
  const choice = createHostChoice();
  const opened = stack.use(
    openDatabase<Database>({ ...target, connectionLimit: target.connectionLimit ?? POOL_CONNECTIONS }, choice),
  );
  const { db } = opened;
  const ledger = stack.use(
    openDatabase<Database>({ ...target, connectionLimit: LEDGER_CONNECTIONS }, choice, { multipleStatements: true }),
  );
  const preparedStatements = stack.use(openPreparedStatements(target, PREPARED_CONNECTIONS, choice));
  if (listHosts(target).length > 1) stack.use(watchHosts(target, { choice, timers, log }));
  if (!options.isRestoring) await refuseUnfinishedRestore(db);
  const databaseName = nameDatabase(target);
  const older = watchOlderProcesses(db, timers);
  const vault = await findVault(db, config, readOnly, older.haveEnded);
  const migrates = !readOnly && (options.migrates || isEmbedded);
  await bringUpToDate(db, { migrates, isEmbedded, log, name: databaseName });
  await older.check();
  const readOrPropose = readOnly ? readOrProposeSetting : readOrCreateSetting;
  const keys = await openKeys(db, vault, readOrPropose);
  const clock = await openClock(db, timers);
  const since = await readOrPropose(db, 'webhooks_since', () => Buffer.from(clock.now().toISOString()));
  await readOrPropose(db, 'refund_commission', () =>
    Buffer.from(JSON.stringify([{ from: '0000-01-01', commission: config.REFUND_COMMISSION }])),
  );
  const zone = await readOrPropose(db, 'provider_time_zone', () => Buffer.from(config.PROVIDER_TIME_ZONE));
  if (zone.toString() !== config.PROVIDER_TIME_ZONE) await changeZone(db, zone.toString(), config, readOnly);
  // written by the migration of a database in which earlier versions proved days
  const leewaySince = await readSetting(db, 'clock_leeway_since');
  const hasReturning = await supportsReturning(db);
  const owned = stack.move();
  return {
    config,
    db,
    ledgerDb: ledger.db,
    supportsReturning: hasReturning,
    preparedStatements,
    countConnections: () => opened.countConnections(),
    countLedgerConnections: () => ledger.countConnections(),
    isDatabaseGreeting: (msMax) => opened.greets(msMax),
    hosts: choice,
    databaseName,
    log,
    clock,
    timers,
    calendar: createCalendar(config.PROVIDER_TIME_ZONE, leewaySince && new Date(leewaySince.toString())),
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
    writes: createWriteState(timers),
    poll: createPoll(db),
    signal: options.signal,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * The journal is dated by the provider's wall clock: another zone would move entries to other days.
 * @throws ConfereError if there are entries.
 */
async function changeZone(db: Kysely<Database>, stored: string, config: Config, readOnly: boolean): Promise<void> {
  const entry = await db.selectFrom('entries').select('seq').limit(1).executeTakeFirst();
  if (entry) {
    throw new ConfereError(
      'config_invalid',
      `PROVIDER_TIME_ZONE is ${config.PROVIDER_TIME_ZONE}, but this ledger was kept in ${stored}: set it back`,
    );
  }
  if (readOnly) return;
  const value = Buffer.from(config.PROVIDER_TIME_ZONE);
  await db.updateTable('settings').set({ value }).where('name', '=', 'provider_time_zone').execute();
}
