import { sql } from 'kysely';
import { watch } from '../jobs/watch.ts';
import { openSession } from '../src/access/sessions.ts';
import { createToken } from '../src/access/tokens.ts';
import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { HTTP_LIMITS, serveHttp } from '../src/http/connections/serve-http.ts';
import { createApp } from '../src/http/create-app.ts';
import { retryLearntItems } from '../src/inbox/verify/retry-learnt-items.ts';
import { searchTransactions } from '../src/ledger/read/search-transactions.ts';
import { makeDayManifests } from '../src/manifests/make-day-manifests.ts';
import { checkBooks, checkNewBooks } from '../src/proof/check-books.ts';
import { listOpenDays } from '../src/reconciliation/runs/plan-run.ts';
import { makeDueReports } from '../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../src/reports/revisions/make-report.ts';
import { applyRetention } from '../src/retention/apply-retention.ts';
import { readBalances } from '../src/seal/read-balances.ts';
import { sealNow } from '../src/seal/seal-ledger.ts';
import { writeNightly } from '../src/tlog/recorded.ts';
import { type Figure, QUICK } from './figure.ts';
import { applyNew, writeNew } from './growth-changes.ts';
import { measure, measureSizes, type Path, type Recorder } from './measure-growth.ts';
import { openEmpty } from './open-empty.ts';
import { analyzeTables, type EvenDays, idOf, loadTables, type Sizes, sizesOf } from './pages-load.ts';

const ROWS_MAX = Number(process.env.GROWTH_ROWS ?? (QUICK ? 20_000 : 1_000_000));
const ROWS_MIN = QUICK ? 5_000 : 10_000;
/** From one size to the next; an exponent needs two sizes. */
const STEP = QUICK ? 4 : 10;
/** The newest days of each size are the same. */
const EVEN: EvenDays = { days: 8, rowsADay: 500 };
const TRIES = QUICK ? 15 : 40;
/** Of what takes longer. */
const SLOW_TRIES = QUICK ? 3 : 5;
/** Between two nights' checks. */
const NEW_ROWS = 500;
/** Prints the statements of each path that read most rows; the figures are then slower. */
const SHOWS_STATEMENTS = process.env.GROWTH_STATEMENTS === '1';
const NIGHT = "check_books, a night's 500 new transactions";
export const quick = true;

/**
 * How the time of each path grows with the number of transactions: the slope of log time on log size, by medians. The newest
 * days of each size are the same; the rest of its year grows. Beside the time, the same of the rows that the server reads,
 * which other work on the machine does not change. `GROWTH_ROWS=10000000 npm run bench -- growth` takes an hour and 40 GB.
 */
export async function run(): Promise<Figure[]> {
  return await measureSizes({ min: ROWS_MIN, max: ROWS_MAX, step: STEP }, measureSize);
}

async function measureSize(rows: number, record: Recorder): Promise<Path[]> {
  await using stack = new AsyncDisposableStack();
  const context = await openEmpty(stack);
  // few of what a page lists whole
  const sizes = { ...sizesOf(rows, EVEN), runs: 5_000, open: 40, people: 1_000 };
  await loadTables(context, sizes);
  process.stderr.write('seals …\n');
  await sealNow(context);
  await analyzeTables(context);
  await sql`SET GLOBAL innodb_flush_log_at_trx_commit = 1`.execute(context.db);
  // as each night before, and each minute's watch, have left it
  await applyRetention(context);
  for (let left = rows; left > 0; left -= 50_000) await retryLearntItems(context);
  const server = stack.use(await serveHttp(context, createApp(context), HTTP_LIMITS));
  const paths = await listPaths(context, sizes, `http://127.0.0.1:${server.port}`);
  for (const one of paths) {
    if (SHOWS_STATEMENTS) await startStatements(context);
    const measured = await measure(context, one);
    if (SHOWS_STATEMENTS) await printStatements(context);
    record(one.name, measured);
  }
  return paths;
}

async function startStatements({ db }: Context): Promise<void> {
  for (const text of [
    ...['SET GLOBAL slow_query_log = 0', "SET GLOBAL log_output = 'TABLE'", 'TRUNCATE mysql.slow_log'],
    ...['SET GLOBAL long_query_time = 0', 'SET SESSION long_query_time = 0', 'SET GLOBAL slow_query_log = 1'],
  ])
    await sql.raw(text).execute(db);
}

/** Prints the statements that read most rows. */
async function printStatements({ db }: Context): Promise<void> {
  await sql`SET GLOBAL slow_query_log = 0`.execute(db);
  const { rows } = await sql<{ text: string; read: string; times: number; ms: string }>`
    SELECT MIN(sql_text) AS text, SUM(rows_examined) AS \`read\`, COUNT(*) AS times, SUM(query_time) * 1000 AS ms
    FROM mysql.slow_log GROUP BY LEFT(sql_text, 200) ORDER BY SUM(rows_examined) DESC LIMIT 4`.execute(db);
  for (const { text, read, times, ms } of rows)
    process.stderr.write(
      `    ${read} rows, ${times} times, ${Number(ms).toFixed(0)} ms: ${String(text).slice(0, 1_500)}\n`,
    );
}

/** In this order: some need what those before them leave. */
async function listPaths(context: Context, sizes: Sizes, url: string): Promise<Path[]> {
  const { db, calendar, clock, keys } = context;
  const today = calendar.dayOf(clock.now());
  const random = (n: number, below: number): number => ((n * 2_654_435_761) % 2 ** 32) % below;
  const headers = await signIn(context);
  const fast = (name: string, work: Path['run']): Path => ({ name, reads: 'a part', tries: TRIES, run: work });
  // with its pages in memory: otherwise the disk's share grows with the tables
  const warm = (name: string, work: Path['run']): Path => ({ ...fast(name, work), before: work });
  const slow = (name: string, work: Path['run'], before?: Path['run']): Path => ({
    ...{ name, reads: 'a part', tries: SLOW_TRIES, run: work },
    ...(before ? { before } : {}),
  });
  const get = async (address: string): Promise<void> => {
    const response = await fetch(`${url}${address}`, { headers });
    await response.text();
    if (response.status !== 200) throw new Error(`${address} is answered ${response.status}`);
  };
  const search = (query: object) => searchTransactions(db, keys, { by: 'created', limit: 50, ...query });
  const some = (n: number): number => random(n, sizes.rows) + 1;
  const writeMore = (n: number) =>
    applyNew(context, writeNew(clock.now(), calendar, { from: n * NEW_ROWS, count: NEW_ROWS }));
  const atHour = (n: number): string => `${addDays(today, -1 - random(n, EVEN.days - 2))} 12:34:56`;
  // of this size's own numbers
  const start = 1_000_000;
  return [
    warm('balance at an instant', (n) => readBalances(db, atHour(n), 'now', clock.now())),
    warm('search by a key', (n) => search(n % 2 ? { reference: `pedido-${some(n)}` } : { id: idOf(some(n)) })),
    warm('search by a status in a month', (n) =>
      search({ status: 'paid', from: addDays(today, -random(n, 300) - 40), to: addDays(today, -random(n, 300) - 10) }),
    ),
    fast("the console's first page", () => get('/')),
    fast('a scrape of /metrics', () => get('/metrics')),
    fast("one webhook's change applied", (n) =>
      applyNew(context, writeNew(clock.now(), calendar, { from: start + n, count: 1 })),
    ),
    slow(
      'sealing 500 new transactions',
      () => sealNow(context),
      (n) => writeMore(100 + n),
    ),
    slow('report of a day of 500', (n) => makeReport(context, addDays(today, -1 - n))),
    slow('daily_report with no day due', () => makeDueReports(context)),
    slow('day_manifests', () => makeDayManifests(context)),
    slow('manifest', () => writeNightly(context)),
    slow('watch', () => watch(context)),
    slow('reconcile_open: the days', () => listOpenDays(context, addDays(today, -97))),
    slow('retention with nothing old', () => applyRetention(context, { write: false })),
    { name: '`doctor --books`', reads: 'all', tries: 1, run: () => check(context) },
    // the first night checks everything, at half speed
    ...(QUICK
      ? []
      : [
          slow(
            NIGHT,
            () => checkNewBooks(context, 0),
            (n) => writeMore(200 + n),
          ),
        ]),
  ];
}

/** Checks the whole books. @throws if the loaded ones are broken. */
async function check(context: Context): Promise<void> {
  const { broken, breaks } = await checkBooks(context);
  if (broken > 0) throw new Error(`the loaded books are broken: ${JSON.stringify(breaks.slice(0, 3))}`);
}

async function signIn(context: Context): Promise<Record<string, string>> {
  const { token } = await createToken(context, { name: 'bench', role: 'admin' });
  return { cookie: `confere_session=${await openSession(context, token)}` };
}
