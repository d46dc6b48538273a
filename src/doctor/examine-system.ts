import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { describeSystemError } from '../../embedded/files/describe-system-error.ts';
import { findServer } from '../../embedded/find-server.ts';
import { refuseSmallDisk } from '../../embedded/launch-server.ts';
import { listHosts } from '../../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import type { Context } from '../context.ts';
import { CLOCK_MS_MAX, measureAheadMs } from '../database/clock.ts';
import { WrongKeyError } from '../database/keys/wrong-key-error.ts';
import { readWriter } from '../database/open/agree-on-writer.ts';
import { NoTablesError } from '../database/open/bring-up-to-date.ts';
import { createCalendar } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import { countRetainedFiles } from '../inbox/spool/count-retained-files.ts';
import { hasSpool, spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { checkFutureDates } from '../ledger/stated/watch-future-openings.ts';
import { checkIssuer } from '../oidc/check-issuer.ts';
import { checkBooks, describeCheck } from '../proof/check-books.ts';
import { checkGrants } from '../proof/check-grants.ts';
import { createProviderClient, type ProviderClient } from '../provider/client.ts';
import { openClient, requireProvider } from '../provider/open-client.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { SYSTEM_TIMERS } from '../timers.ts';
import { checkArchives, checkDisks, checkSizes } from './check-storage.ts';

export type Finding = { check: string; ok: boolean; says: string };
type Check<C> = { name: string; run: (context: C) => Promise<string> };
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
      findings.push({ check: name, ok: false, says: describeSystemError(error) ?? (error as Error).message });
    }
  }
  return findings;
}

/** @throws the error, unless `serve` will make the tables; an error if it can't, for want of a server. */
function describeMissing(error: unknown, config: Context['config']): string {
  if (!(error instanceof NoTablesError && error.isExpected)) throw new Error(describeFailure(error), { cause: error });
  if (config.DATABASE_URL === undefined) findServer();
  return error.message;
}

async function examineDatabase(context: Context): Promise<string> {
  const { rows } = await sql<{ version: string; flush: number; mode: string }>`
    SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush, @@sql_mode AS mode`.execute(context.db);
  const [row] = rows;
  if (Number(row?.flush) !== 1) {
    throw new Error('innodb_flush_log_at_trx_commit is not 1: a power cut can lose what was answered');
  }
  const { DATABASE_URL } = context.config;
  const target = DATABASE_URL === undefined ? undefined : parseDatabaseUrl(DATABASE_URL);
  const unnamed = target ? listHostsWithoutNameCheck(target) : [];
  const writer = target && listHosts(target).length > 1 ? await readWriter(context.db) : undefined;
  return [
    `${row?.version}, flushed at every commit`,
    ...(unnamed.length > 0 ? [`TLS can't check a name for ${unnamed.join(', ')}: write host names`] : []),
    ...(writer ? [`all processes write to ${writer.host} (since ${writer.since.toISOString()})`] : []),
  ].join('; ');
}

async function examineClock(context: Context): Promise<string> {
  await context.clock.measureOffset();
  const aheadMs = measureAheadMs(context);
  const size = Math.abs(aheadMs);
  if (size > CLOCK_MS_MAX) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    throw new Error(`this machine's clock is ${Math.round(size / 1000)} s ${side} the database's: set both by NTP`);
  }
  return `${size} ms between this machine's clock and the database's`;
}

async function examineDataDir({ config }: BareContext): Promise<string> {
  const { DATA_DIR, DATABASE_URL, MANIFESTS_DIR } = config;
  const places = [DATA_DIR, MANIFESTS_DIR].filter((place) => place !== undefined);
  const says = places.map((place) => describePlace(place) ?? `${place} can be written to`);
  const isNew = DATABASE_URL === undefined && !existsSync(path.join(DATA_DIR, 'mariadb', 'data'));
  if (isNew) refuseSmallDisk(nearestDirectory(DATA_DIR));
  return says.join('; ');
}

async function examineSpool({ config }: BareContext): Promise<string> {
  const directory = spoolDirectory(config);
  const { torn, refused } = countRetainedFiles(directory);
  if (torn + refused > 0) {
    throw new Error(
      `${directory} holds ${torn} damaged (.torn) and ${refused} refused (.refused) files, which may hold webhooks that ` +
        'were answered: see docs/runbooks.md, "spool_files_kept"',
    );
  }
  if (!hasSpool(config)) return 'SPOOL_DIR is not set: while the database is away, webhooks are refused';
  return describePlace(directory) ?? 'no damaged or refused files';
}

/**
 * @returns a text where the directory does not exist yet; undefined where it can be written to.
 * @throws Error if it, or the first one above it that exists, can't be read and written to.
 */
function describePlace(place: string): string | undefined {
  const parent = nearestDirectory(place);
  try {
    if (isDanglingLink(place)) throw Object.assign(new Error(), { code: 'a link to a place that does not exist' });
    if (!statSync(parent).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(parent, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Error(`${isDanglingLink(place) ? place : parent} can't be read and written to (${code})`, {
      cause: error,
    });
  }
  return parent === path.resolve(place) ? undefined : `${place} does not exist yet: serve creates it`;
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

async function examineProvider({ config, calendar, clock, openProvider }: BareContext): Promise<string> {
  if (!config.PROVIDER) return 'PROVIDER_URL and PROVIDER_API_KEY are not set: serve and reconcile need them';
  await using client = openProvider();
  const day = calendar.dayOf(clock.now());
  const page = await client.listPage({ initialDate: day, finalDate: day }, 1);
  if (!page) throw new ConfereError('provider_unreadable', 'the provider has no first page of its list');
  const known = page.rows.find((row) => row.ok);
  if (known?.ok) await client.show(known.transaction.id);
  return `accepts the API key and reports ${page.total} transactions on ${day}`;
}

async function examineBooks(context: Context, { sinceProof = false }: { sinceProof?: boolean }): Promise<string> {
  const check = await checkBooks(context, { sinceProof });
  const { ok, says } = describeCheck(check, sinceProof ? ' since the last proof' : '');
  if (!ok) throw new Error(says);
  return says;
}
