import { sql } from 'kysely';
import { openSession } from '../src/access/sessions.ts';
import { createToken } from '../src/access/tokens.ts';
import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { expectedFactsSchema } from '../src/expected/expected-fields.ts';
import { decideAll } from '../src/expected/follow/follow-payments.ts';
import { putExpected } from '../src/expected/put-expected.ts';
import { HTTP_LIMITS, serveHttp } from '../src/http/connections/serve-http.ts';
import { createApp } from '../src/http/create-app.ts';
import { dropKeys } from './drop-keys.ts';
import { type Figure, figure, QUICK } from './figure.ts';
import { applyNew, writeNew } from './growth-changes.ts';
import { measure, measureSizes, type Path, type Recorder } from './measure-growth.ts';
import { openEmpty } from './open-empty.ts';

const SIZES = { min: 10_000, max: QUICK ? 100_000 : 1_000_000, step: 10 };
const TRIES = QUICK ? 15 : 40;
const COLD = 10_000;
const COLD_SECONDS_MAX = 10;
const PUT_ROWS = 500;
const TABLES = ['expected_payments', 'expected_versions', 'expected_texts', 'expected_keys'];

export const quick = true;

/**
 * How the time of a payment matched, a PUT and a page grows with the expected payments that are open, and how long as many orders
 * as payments take that were never decided.
 */
export async function run(): Promise<Figure[]> {
  return [...(await measureSizes(SIZES, measureSize)), await decideCold()];
}

async function measureSize(rows: number, record: Recorder): Promise<Path[]> {
  await using stack = new AsyncDisposableStack();
  const context = await openEmpty(stack);
  await loadOpen(context, rows);
  const server = stack.use(await serveHttp(context, createApp(context), HTTP_LIMITS));
  const paths = await listPaths(context, rows, `http://127.0.0.1:${server.port}`);
  for (const one of paths) record(one.name, await measure(context, one));
  return paths;
}

async function listPaths(context: Context, rows: number, url: string): Promise<Path[]> {
  const { token } = await createToken(context, { name: 'bench', role: 'admin' });
  const headers = { authorization: `Bearer ${token}`, cookie: `confere_session=${await openSession(context, token)}` };
  const get = async (address: string): Promise<void> => {
    const response = await fetch(`${url}${address}`, { headers });
    await response.text();
    if (response.status !== 200) throw new Error(`${address} is answered ${response.status}`);
  };
  const some = (n: number): number => ((n * 2_654_435_761) % rows) + 1;
  const a = (name: string, work: Path['run'], before?: Path['run']): Path => ({
    ...{ name, reads: 'a part', tries: TRIES, run: work },
    ...(before ? { before } : {}),
  });
  const pay = (n: number) => {
    const [row] = writeNew(context.clock.now(), context.calendar, { from: n, count: 1 });
    return applyNew(context, [{ ...row, reference: `pedido-${some(n)}` }]);
  };
  return [
    a('a payment matched', () => decideAll(context), pay),
    a('a PUT of a new expected payment', (n) => put(context, n, 1, '10.00')),
    a('a PUT of other facts', (n) => put(context, n, 1, '11.00')),
    a("the API's page of those that are open", () => get('/api/v1/expected-payments?state=open&limit=50')),
    a("the console's page", () => get('/expected')),
    a('the first page', () => get('/')),
  ];
}

async function put(context: Context, from: number, count: number, amount: string): Promise<void> {
  const today = context.calendar.dayOf(context.clock.now());
  const facts = { operation: 'cashin', amount, issued_day: addDays(today, -1), due_day: addDays(today, 3) };
  const arrivals = Array.from({ length: count }, (_, index) => ({
    ...{ source: 'bench', number: `${from + index}` },
    facts: expectedFactsSchema.parse({
      ...{ ...facts, references: [`novo-${String(from + index).padStart(12, '0')}`], name: 'Maria da Conceição' },
    }),
  }));
  await putExpected(context, { arrivals, actor: 'bench' });
}

/** Open expected payments, each with a reference and a document of its own. MariaDB only. */
async function loadOpen({ db, clock, calendar }: Context, rows: number): Promise<void> {
  const today = calendar.dayOf(clock.now());
  const [issued, due] = [addDays(today, -1), sql`${today} + INTERVAL 3 + seq MOD 90 DAY`];
  const each = sql.raw(`seq_1_to_${rows}`);
  const shared = sql`1, 100 + seq MOD 50000, ${due}, UNHEX(SHA2(seq, 256))`;
  await sql`SET GLOBAL innodb_flush_log_at_trx_commit = 0`.execute(db);
  const restore = await dropKeys(db, TABLES);
  await sql`INSERT INTO expected_payments (version, amount_cents, due_day, document_hash, seq, id, source, number, operation, created_at,
      created_day, version_seq, issued_day, end_day, state, state_at, sequence, look_at)
    SELECT ${shared}, seq, CONCAT('ep_', MD5(seq)), 'loja', seq, 'cashin', ${clock.now()}, ${today}, seq, ${issued}, ${due}, 'open',
      ${clock.now()}, 1, ${due} + INTERVAL 27 HOUR FROM ${each}`.execute(db);
  await sql`INSERT INTO expected_versions (version, amount_cents, due_day, document_hash, seq, expected_id, facts_hash, created_at, actor)
    SELECT ${shared}, seq, CONCAT('ep_', MD5(seq)), UNHEX(SHA2(seq, 256)), ${clock.now()}, 'bench' FROM ${each}`.execute(
    db,
  );
  await sql`INSERT INTO expected_texts (version_seq, name) SELECT seq, CONCAT('Maria ', seq) FROM ${each}`.execute(db);
  await sql`INSERT INTO expected_keys (version_seq, kind, value)
    SELECT seq, 'reference', CONCAT('pedido-', seq) FROM ${each}`.execute(db);
  await restore();
  for (const table of TABLES) await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
  await sql`SET GLOBAL innodb_flush_log_at_trx_commit = 1`.execute(db);
}

/** Orders and payments that nobody decided yet: each payment has the reference of an order. */
async function decideCold(): Promise<Figure> {
  await using stack = new AsyncDisposableStack();
  const context = await openEmpty(stack);
  for (let from = 0; from < COLD; from += PUT_ROWS) await put(context, from, PUT_ROWS, '10.00');
  await applyNew(context, writeNew(context.clock.now(), context.calendar, { from: 0, count: COLD }));
  const began = performance.now();
  await decideAll(context);
  const seconds = (performance.now() - began) / 1_000;
  const { matched } = await context.db
    .selectFrom('expected_matches')
    .select((eb) => eb.fn.countAll<number>().as('matched'))
    .executeTakeFirstOrThrow();
  // writeNew makes one in ten a payment of ours, which is no order's
  if (Number(matched) !== COLD * 0.9) throw new Error(`${matched} payments were matched`);
  return figure(`${COLD} orders and ${COLD} payments decided cold, s`, seconds, COLD_SECONDS_MAX);
}
