import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { describeSystemError } from '../../embedded/files/describe-system-error.ts';
import { findServer } from '../../embedded/find-server.ts';
import { refuseSmallDisk } from '../../embedded/launch-server.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import type { Context } from '../context.ts';
import { CLOCK_MS_MAX, measureAheadMs } from '../database/clock.ts';
import { WrongKeyError } from '../database/keys/wrong-key-error.ts';
import { NoTablesError } from '../database/open/bring-up-to-date.ts';
import { createCalendar } from '../domain/calendar.ts';
import { ConfereError, type Message } from '../domain/errors.ts';
import { countRetainedFiles } from '../inbox/spool/count-retained-files.ts';
import { hasSpool, spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { checkFutureDates } from '../ledger/stated/watch-future-openings.ts';
import { checkIssuer } from '../oidc/check-issuer.ts';
import { checkBooks, describeCheck } from '../proof/check-books.ts';
import { createProviderClient, type ProviderClient } from '../provider/client.ts';
import { openClient, requireProvider } from '../provider/open-client.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { failure, message, type Said, saidBy } from '../texts/messages.ts';
import { SYSTEM_TIMERS } from '../timers.ts';
import { findShared } from '../tlog/recorded.ts';
import { checkGrants } from './check-grants.ts';
import { checkHosts } from './check-hosts.ts';
import { checkArchives, checkDisks, checkSizes } from './check-storage.ts';

export type Finding = { check: string; ok: boolean; says: Said };
type Check<C> = { name: string; run: (context: C) => Promise<Said> };
/** The context of checks without tables. */
type BareContext = Pick<Context, 'config' | 'timers' | 'signal' | 'calendar'> & {
  clock: Pick<Context['clock'], 'now'>;
  openProvider: () => ProviderClient;
};

/**
 * Checks the database, its grants, the clock, files, the provider and the issuer, one after the other, from this process. It writes
 * nothing, but for the token that its request to the provider takes of PROVIDER_RATE.
 * @param options.books also checks the whole ledger, which takes hours on a large one, and records the breaks that it finds.
 * @param options.sinceProof with `books`: only what was written after the last proof.
 */
export async function examineSystem(
  context: Context,
  options: { books?: boolean; sinceProof?: boolean } = {},
): Promise<Finding[]> {
  const bare = { ...context, openProvider: () => openClient(context) };
  return [
    ...(await examineAll(context, TABLE_CHECKS)),
    ...(await examineAll(bare, BARE_CHECKS)),
    ...(await examineAll(context, options.books ? [{ name: 'books', run: (c) => examineBooks(c, options) }] : [])),
  ];
}

/**
 * Checks what can be checked where the context was not opened: the database lacks tables of this version, or is not reached; the
 * key is not the one of the database; a disk is full. Writes nothing.
 * @throws the error if the settings are wrong: all else depends on them.
 */
export async function examineWithoutContext(
  error: unknown,
  { config, timers = SYSTEM_TIMERS, signal }: Pick<Context, 'config' | 'signal'> & Partial<Pick<Context, 'timers'>>,
): Promise<Finding[]> {
  const isKey = error instanceof WrongKeyError;
  const isMissing = error instanceof NoTablesError || (error instanceof ConfereError && error.code === 'unavailable');
  if (error instanceof ConfereError && !isKey && !isMissing) throw error;
  const now = (): Date => new Date(timers.now());
  const openProvider = (): ProviderClient => createProviderClient({ ...requireProvider(config), signal, timers, now });
  const calendar = createCalendar(config.PROVIDER_TIME_ZONE);
  const bare = { config, timers, signal, calendar, clock: { now }, openProvider };
  const first = { name: isKey ? 'key' : 'database', run: async () => describeMissing(error, config) };
  return await examineAll(bare, [first, ...BARE_CHECKS]);
}

const TABLE_CHECKS: Check<Context>[] = [
  { name: 'database', run: examineDatabase },
  { name: 'hosts', run: checkHosts },
  { name: 'grants', run: (context) => checkGrants(context.db) },
  { name: 'clock', run: examineClock },
  { name: 'stated', run: checkFutureDates },
  { name: 'sizes', run: checkSizes },
  { name: 'archives', run: checkArchives },
];
const BARE_CHECKS: Check<BareContext>[] = [
  { name: 'data', run: examineDataDir },
  { name: 'spool', run: examineSpool },
  { name: 'disks', run: checkDisks },
  { name: 'provider', run: examineProvider },
  { name: 'issuer', run: checkIssuer },
];

async function examineAll<C>(context: C, checks: Check<C>[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, run } of checks) {
    try {
      findings.push({ check: name, ok: true, says: await run(context) });
    } catch (error) {
      findings.push({ check: name, ok: false, says: whatFailed(error) });
    }
  }
  return findings;
}

function whatFailed(error: unknown): Said {
  return error instanceof ConfereError ? saidBy(error) : (describeSystemError(error) ?? (error as Error).message);
}

/** @throws the error, unless `serve` will make the tables; an error if it can't, for want of a server. */
function describeMissing(error: unknown, config: Context['config']): string {
  if (!(error instanceof NoTablesError && error.isExpected)) throw new Error(describeFailure(error), { cause: error });
  if (config.DATABASE_URL === undefined) findServer();
  return error.message;
}

async function examineDatabase(context: Context): Promise<Message[]> {
  const { rows } = await sql<{ version: string; flush: number; mode: string }>`
    SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush, @@sql_mode AS mode`.execute(context.db);
  const [row] = rows;
  if (Number(row?.flush) !== 1) throw failure('unavailable', message('doctor.not_flushed'));
  const { DATABASE_URL } = context.config;
  const target = DATABASE_URL === undefined ? undefined : parseDatabaseUrl(DATABASE_URL);
  const unnamed = target ? listHostsWithoutNameCheck(target) : [];
  return [
    message('doctor.flushed', { version: row?.version ?? '' }),
    ...(unnamed.length > 0 ? [message('doctor.hosts_unnamed', { hosts: unnamed.join(', ') })] : []),
  ];
}

async function examineClock(context: Context): Promise<Message[]> {
  await context.clock.measureOffset();
  const aheadMs = measureAheadMs(context);
  const n = Math.abs(aheadMs);
  if (n <= CLOCK_MS_MAX) return [message('doctor.clock', { n })];
  const side = aheadMs > 0 ? 'doctor.clock_ahead' : 'doctor.clock_behind';
  throw failure('unavailable', message(side, { s: Math.round(n / 1000) }));
}

async function examineDataDir({ config }: BareContext): Promise<Message[]> {
  const { DATA_DIR, DATABASE_URL } = config;
  const places = [DATA_DIR, findShared(config)].filter((place) => place !== undefined);
  const says = places.map((path) => describePlace(path) ?? message('doctor.place_writable', { path }));
  const isNew = DATABASE_URL === undefined && !existsSync(path.join(DATA_DIR, 'mariadb', 'data'));
  if (isNew) refuseSmallDisk(nearestDirectory(DATA_DIR));
  return says;
}

async function examineSpool({ config }: BareContext): Promise<Message[]> {
  const path = spoolDirectory(config);
  const { torn: damaged, refused } = countRetainedFiles(path);
  if (damaged + refused > 0) throw failure('conflict', message('doctor.files_kept', { path, damaged, refused }));
  return [hasSpool(config) ? (describePlace(path) ?? message('doctor.no_files_kept')) : message('doctor.no_spool')];
}

/**
 * @returns a message where the directory does not exist yet; undefined where it can be written to.
 * @throws ConfereError if it, or the first one above it that exists, can't be read and written to.
 */
function describePlace(place: string): Message | undefined {
  if (isDanglingLink(place)) throw failure('unavailable', message('doctor.place_dangling', { path: place }));
  const parent = nearestDirectory(place);
  try {
    if (!statSync(parent).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(parent, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as { code?: string };
    throw failure('unavailable', message('doctor.place_refused', { path: parent, code: String(code) }), {
      cause: error,
    });
  }
  return parent === path.resolve(place) ? undefined : message('doctor.place_missing', { path: place });
}

function isDanglingLink(place: string): boolean {
  return !existsSync(place) && lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}

/** @returns the directory, or the first one above it that exists. */
function nearestDirectory(place: string): string {
  let directory = path.resolve(place);
  while (!existsSync(directory)) directory = path.dirname(directory);
  return directory;
}

async function examineProvider({ config, calendar, clock, openProvider }: BareContext): Promise<Message[]> {
  if (!config.PROVIDER) return [message('doctor.provider_unset')];
  await using client = openProvider();
  const day = calendar.dayOf(clock.now());
  const page = await client.listPage({ initialDate: day, finalDate: day }, 1);
  if (!page) throw failure('provider_unreadable', message('provider.no_first_page'));
  const known = page.rows.find((row) => row.ok);
  if (known?.ok) await client.show(known.transaction.id);
  return [message('doctor.provider_answers', { n: page.total, day })];
}

async function examineBooks(context: Context, { sinceProof = false }: { sinceProof?: boolean }): Promise<string> {
  const check = await checkBooks(context, { sinceProof });
  const { ok, says } = describeCheck(check, sinceProof ? ' since the last proof' : '');
  if (!ok) throw new Error(says);
  return says;
}
