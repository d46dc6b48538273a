import { accessSync, constants } from 'node:fs';
import { sql } from 'kysely';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { countRetainedFiles } from '../inbox/spool/count-retained-files.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { checkFutureDates } from '../ledger/stated/watch-future-openings.ts';
import { checkIssuer } from '../oidc/check-issuer.ts';
import { checkBooks } from '../proof/check-books.ts';
import { checkGrants } from '../proof/check-grants.ts';
import { openClient } from '../provider/open-client.ts';

const CLOCK_MS_MAX = 2_000;
const BREAKS_SHOWN_MAX = 5;

export type Finding = { check: string; ok: boolean; says: string };
type Check = { name: string; run: (context: Context) => Promise<string> };

/**
 * Checks the database, its grants, the clock, files, the provider and the issuer, one after the other, from this process. It writes
 * nothing. @param options.books also checks the whole ledger, which takes minutes on a large one.
 */
export async function examineSystem(context: Context, options: { books?: boolean } = {}): Promise<Finding[]> {
  const checks = options.books ? [...CHECKS, { name: 'books', run: examineBooks }] : CHECKS;
  const findings: Finding[] = [];
  for (const check of checks) findings.push(await examine(context, check));
  return findings;
}

const CHECKS: Check[] = [
  { name: 'database', run: examineDatabase },
  { name: 'grants', run: (context) => checkGrants(context.db) },
  { name: 'clock', run: examineClock },
  { name: 'data', run: examineDataDir },
  { name: 'spool', run: examineSpool },
  { name: 'stated', run: checkFutureDates },
  { name: 'provider', run: examineProvider },
  { name: 'issuer', run: checkIssuer },
];

async function examine(context: Context, check: Check): Promise<Finding> {
  try {
    return { check: check.name, ok: true, says: await check.run(context) };
  } catch (error) {
    return { check: check.name, ok: false, says: error instanceof Error ? error.message : String(error) };
  }
}

async function examineDatabase(context: Context): Promise<string> {
  const { rows } = await sql<{ version: string; flush: number; mode: string }>`
    SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush, @@sql_mode AS mode`.execute(context.db);
  const [row] = rows;
  if (Number(row?.flush) !== 1) {
    throw new Error('innodb_flush_log_at_trx_commit is not 1: a power cut can lose what was answered');
  }
  const { DATABASE_URL } = context.config;
  const hosts = DATABASE_URL === undefined ? [] : listHostsWithoutNameCheck(parseDatabaseUrl(DATABASE_URL));
  const unnamed = hosts.length > 0 ? `; TLS can't check a name for ${hosts.join(', ')}: write host names` : '';
  return `${row?.version}, flushed at every commit${unnamed}`;
}

async function examineClock(context: Context): Promise<string> {
  await context.clock.measureOffset();
  const offset = context.clock.now().getTime() - context.timers.now();
  if (Math.abs(offset) > CLOCK_MS_MAX) {
    throw new Error(`this machine's clock is ${offset} ms away from the database's: set both by NTP`);
  }
  return `${offset} ms between this machine's clock and the database's`;
}

async function examineDataDir(context: Context): Promise<string> {
  try {
    accessSync(context.config.DATA_DIR, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Error(`${context.config.DATA_DIR} can't be read and written to (${code})`, { cause: error });
  }
  return `${context.config.DATA_DIR} can be written to`;
}

async function examineSpool({ config }: Context): Promise<string> {
  const directory = spoolDirectory(config);
  const { torn, refused } = countRetainedFiles(directory);
  if (torn + refused > 0) {
    throw new Error(
      `${directory} holds ${torn} damaged (.torn) and ${refused} refused (.refused) files, which may hold webhooks that ` +
        'were answered: see docs/runbooks.md, "Files kept in the spool"',
    );
  }
  return 'no damaged or refused files';
}

async function examineProvider(context: Context): Promise<string> {
  const { PROVIDER } = context.config;
  if (!PROVIDER) return 'PROVIDER_URL and PROVIDER_API_KEY are not set: serve and reconcile need them';
  await using client = openClient(context);
  const day = context.calendar.dayOf(context.clock.now());
  const page = await client.listPage({ initialDate: day, finalDate: day }, 1);
  if (!page) throw new ConfereError('provider_unreadable', 'the provider has no first page of its list');
  return `accepts the API key and reports ${page.total} transactions on ${day}`;
}

async function examineBooks(context: Context): Promise<string> {
  const { position, entries, transactions, broken, breaks } = await checkBooks(context);
  if (broken > 0) {
    const shown = breaks.slice(0, BREAKS_SHOWN_MAX).map((one) => `${one.scope}: ${one.says}`);
    throw new Error(`${broken} breaks. ${shown.join('; ')}`);
  }
  return `${transactions} transactions and ${entries} entries are consistent; the chain is whole up to position ${position}`;
}
