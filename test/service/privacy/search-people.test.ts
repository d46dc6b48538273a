import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { selectCallbacks } from '../../../src/callbacks/manage/read-callbacks.ts';
import { limitSelect } from '../../../src/database/limit-statement-time.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { listPlatforms } from '../../../src/ledger/read/list-platforms.ts';
import { readSearchTotal, TOTAL_ROWS_MAX } from '../../../src/ledger/read/read-search-total.ts';
import { startBudget } from '../../../src/ledger/read/search-budget.ts';
import { buildSearch, SEARCH_MS_MAX, searchTransactions } from '../../../src/ledger/read/search-transactions.ts';
import type { SearchCursor, TransactionQuery } from '../../../src/ledger/read/transaction-query.ts';
import { indexParties } from '../../../src/privacy/index-parties.ts';
import { EXPORT_ROWS_MAX } from '../../../src/reports/serve/export-found.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const ROWS = 30_000;
const PAGE = 50;
const CPF = '123.456.789-09';

const environment = closeAfterAll(await openEnvironment());

const search = (query: Partial<TransactionQuery>) =>
  searchTransactions(environment.context.db, environment.context.keys, { by: 'created', limit: PAGE, ...query });
const idsOf = async (query: Partial<TransactionQuery>) => (await search(query)).transactions.map((one) => one.id);

describe('the search for people', () => {
  it('finds a document in any spelling, and by nothing but the whole of it', async () => {
    const row = makeShownTransaction(['paid'], { document: '12345678909', name: 'Ana' });
    await applyObservations(environment.context, [observeNow(environment.context, row)]);
    expect(await idsOf({ document: CPF })).toEqual([row.id]);
    expect(await idsOf({ document: ' 123456789/09' })).toEqual([row.id]);
    expect(await idsOf({ document: '123.456.789-0' })).toEqual([]);
  });

  it('takes the letters of a CNPJ as the same in either case', async () => {
    const row = makeShownTransaction(['paid'], { document: '12.ABC.345/01DE-35' });
    await applyObservations(environment.context, [observeNow(environment.context, row)]);
    expect(await idsOf({ document: '12abc34501de35' })).toEqual([row.id]);
  });

  it('finds the beginning of a name in any case, with or without accents, and follows a name that changes', async () => {
    const row = makeShownTransaction(['pending'], { name: 'JOÃO  Conceição' });
    await applyObservations(environment.context, [observeNow(environment.context, row)]);
    for (const name of ['joão', 'Joao c', 'JOAO CONCEICAO', 'joão   conc'])
      expect(await idsOf({ name })).toEqual([row.id]);
    for (const name of ['conceicao', 'joao%', 'joao_']) expect(await idsOf({ name })).toEqual([]);
    const renamed = { ...row, name: 'Íris Conceição' };
    await applyObservations(environment.context, [observeNow(environment.context, renamed, 1)]);
    expect(await idsOf({ name: 'joao' })).toEqual([]);
    expect(await idsOf({ name: 'iris' })).toEqual([row.id]);
  });

  it('indexes the parties of an older version, and what an older replica wrote since', async () => {
    const row = makeShownTransaction(['paid'], { document: '98765432100', name: 'Zuleica' });
    await applyObservations(environment.context, [observeNow(environment.context, row)]);
    // as a version without these columns left it
    await sql`UPDATE parties SET document_hash = NULL, name_folded = NULL, created_wall = NULL, index_due = 1`.execute(
      environment.context.db,
    );
    expect(await idsOf({ document: '98765432100' })).toEqual([]);
    expect(await indexParties(environment.context)).toBeGreaterThan(0);
    expect(await idsOf({ document: '98765432100' })).toEqual([row.id]);
    expect(await idsOf({ name: 'zuleica' })).toEqual([row.id]);
    expect(await indexParties(environment.context)).toBe(0);
  });
});

describe('the search over many', () => {
  beforeAll(async () => {
    await loadMany();
  }, 120_000);

  it('meets each transaction once over all its pages, the newest first, also within one second', async () => {
    for (const query of [
      { extra: 'shop-1' },
      { document: '00000000007' },
      { name: 'pessoa 1' },
      { status: 'paid' },
      { idPrefix: 'aaaaaaaa' },
      { idPrefix: 'aaaaaaaa-0000-4000-8000-00000000' },
      { merchant: 'mer_many' },
      { merchant: 'mer_few', status: 'paid' },
      { anyOf: [{ extra: 'shop-1' }, { amountCents: 700n }, { name: 'pessoa 7' }] },
    ]) {
      const met: string[] = [];
      let after: SearchCursor | undefined;
      let pages = 0;
      do {
        const found = await search({ ...query, after, limit: 1_000 });
        met.push(...found.transactions.map((one) => one.createdWall + one.id));
        after = found.next;
        pages++;
      } while (after && pages < 100);
      expect(new Set(met).size).toBe(met.length);
      expect(met.length).toBe(await countMatches(query));
      const walls = met.map((one) => one.slice(0, 19));
      expect(walls).toEqual([...walls].sort().reverse());
    }
  });

  it('finds what matches one of several readings, and what matches them all but once', async () => {
    const count = (query: Partial<TransactionQuery>) => countMatches(query);
    const both = await count({ extra: 'shop-1', amountCents: 600n });
    expect(both).toBeGreaterThan(0);
    expect(await count({ anyOf: [{ extra: 'shop-1' }, { amountCents: 600n }] })).toBe(
      (await count({ extra: 'shop-1' })) + (await count({ amountCents: 600n })) - both,
    );
    expect(await count({ status: 'denied', anyOf: [{ status: 'paid' }] })).toBe(0);
    expect(await count({ anyOf: [] })).toBe(0);
  });

  it('counts and sums what matches, up to a limit, and says when there is more', async () => {
    const { db, keys } = environment.context;
    const total = (query: Partial<TransactionQuery>, rowsMax?: number) =>
      readSearchTotal(db, keys, { by: 'created', ...query }, { rowsMax, ms: 60_000 });
    // 30 of the 30,000, of R$ 6.00
    const sums = await total({ amountCents: 600n });
    expect(sums).toMatchObject({ count: 30, isMore: false });
    const all = Object.values(sums?.cents ?? {}).flatMap((outcomes) => Object.values(outcomes));
    expect(all.reduce((sum, one) => sum + one, 0n)).toBe(18_000n);
    expect(await total({ anyOf: [{ amountCents: 600n }, { amountCents: 600n, extra: 'shop-1' }] })).toEqual(sums);
    expect(await total({})).toMatchObject({ count: TOTAL_ROWS_MAX, isMore: true });
    expect(await total({ amountCents: 600n }, 10)).toMatchObject({ count: 10, isMore: true });
    expect(await total({ reference: 'no such' })).toMatchObject({ count: 0, isMore: false });
    expect(await readSearchTotal(db, keys, { by: 'created' }, { ms: 0 })).toBeUndefined();
  });

  it('exports the newest rows up to a limit, says so in the name of the file, and audits each by its id', async () => {
    const { context } = environment;
    const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
    const { token, id } = await createToken(context, { name: 'exporter', role: 'accountant' });
    const headers = { cookie: `confere_session=${await openSession(context, token)}` };
    const answer = await fetch(`http://127.0.0.1:${server.port}/transactions/export?format=csv`, { headers });
    expect(answer.headers.get('content-disposition')).toContain(`-${EXPORT_ROWS_MAX}-mais-novas.csv"`);
    const rows = (await answer.text()).trimEnd().split('\r\n').slice(1);
    expect(rows).toHaveLength(EXPORT_ROWS_MAX);
    expect(new Set(rows.map((row) => row.split(';')[0])).size).toBe(EXPORT_ROWS_MAX);
    const audited = await context.db.selectFrom('audit').select('detail').where('actor', '=', id).execute();
    const ids = audited.flatMap(({ detail }) => detail?.match(/[0-9a-f-]{36}/g) ?? []);
    expect(ids).toHaveLength(EXPORT_ROWS_MAX);
  });

  it('lists the platforms by one step in the index for each', async () => {
    const { db } = environment.context;
    const platforms = await listPlatforms(db, 1_000);
    expect(platforms).toHaveLength(21);
    expect(platforms).toEqual(expect.arrayContaining(['p0', 'p19', 'none']));
    const query = db.selectFrom('transactions').select('platform').groupBy('platform').limit(1_000).compile();
    const [step] = await explain(query);
    expect([step?.key, step?.Extra]).toEqual(['transactions_platform', expect.stringContaining('index for group-by')]);
  });

  it('lists callbacks by their number: it does not begin with the merchants and sort them all', async () => {
    const page = selectCallbacks(environment.context.db).orderBy('callbacks.seq', 'desc').limit(PAGE);
    const plan = await explain(page.compile());
    expect(plan.map(({ key }) => key)).toEqual([...Array(4).fill('PRIMARY'), 'callbacks_order']);
    expect(plan.map(({ Extra }) => Extra).join()).not.toContain('filesort');
  });

  it.each<[string, Partial<TransactionQuery>, string]>([
    ['the beginning of an id that few share', { idPrefix: 'aaaaaaaa-0000-4000-8000-00000000001' }, 'PRIMARY'],
    ['the beginning of an id that all share', { idPrefix: 'aaaaaaaa' }, 'transactions_created_day'],
    ['a merchant with few callbacks', { merchant: 'mer_few' }, 'PRIMARY'],
    ['a merchant with many callbacks', { merchant: 'mer_many' }, 'transactions_created_day'],
    ['a rare name', { name: 'zuleica' }, 'PRIMARY'],
  ])('reads %s off an index', async (_, query, index) => {
    const { db, keys } = environment.context;
    const select = await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query });
    const plan = await explain(select.compile());
    expect(plan[0]?.key).toBe(index);
    if (index !== 'PRIMARY') expect(plan.map((step) => step.Extra).join()).not.toContain('filesort');
    for (const step of plan.slice(1)) expect(['PRIMARY', 'callbacks_order']).toContain(step.key);
  });

  it.each<[string, Partial<TransactionQuery>, number]>([
    ['a platform of few, among a status of many', { status: 'paid', platform: 'p2' }, 1_500],
    ['an operation of few, among a status of many', { status: 'paid', operation: 'cashout' }, 600],
    ['an amount by the day of the status', { amountCents: 700n, by: 'status' }, 30],
    ['a document by the day of the status', { document: '00000000007', by: 'status' }, 3_000],
    ['a platform by the day of the status', { platform: 'p2', by: 'status' }, 1_500],
  ])('reads %s by the number of each, or off its own index, not among all', async (_, query, few) => {
    const { db, keys } = environment.context;
    const select = await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query });
    const plan = await explain(select.compile());
    const read = plan.map(({ key, rows }) => [key, Number(rows)] as const);
    // a list of numbers may be a table of its own, without a key
    for (const [key, rows] of read) expect([key, rows <= few * 1.2]).toEqual([key, true]);
    for (const [key] of read) expect(key ?? '').toMatch(/^(?:PRIMARY|transactions_(?:platform|operation|amount)|)$/);
  });

  const MONTH = { from: '2025-06-01', to: '2025-07-05' };
  it.each<[string, Partial<TransactionQuery>, string]>([
    ['id', { id: idOf(5) }, 'transactions_id'],
    ['an extra that thousands share', { extra: 'shop-1' }, 'transactions_extra_day'],
    ['a document that thousands share', { document: '00000000007' }, 'parties_document'],
    ['status in a month', { status: 'denied', ...MONTH }, 'transactions_status'],
    ['status in a month of its own time', { status: 'denied', ...MONTH, by: 'status' }, 'transactions_status_moved'],
    ['platform in a month', { platform: 'p2', ...MONTH }, 'transactions_platform'],
    ['operation in a month', { operation: 'cashout', ...MONTH }, 'transactions_operation'],
    ['amount in a month', { amountCents: 700n, ...MONTH }, 'transactions_amount'],
    ['nothing', {}, 'transactions_created_day'],
  ])('reads %s off an index that is in the order of the page', async (_, query, index) => {
    const { db, keys } = environment.context;
    const select = await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query });
    const plan = await explain(select.compile());
    expect(plan[0]?.key).toBe(index);
    expect(plan.map((step) => step.Extra).join()).not.toContain('filesort');
    // parties, or transactions, by their own number
    for (const step of plan.slice(1)) expect(step.key).toBe('PRIMARY');
  });

  it.each<[string, Partial<TransactionQuery>]>([
    ['transactions_reference_day', { reference: 'pedido-77' }],
    ['transactions_e2e_day', { e2eId: 'E00000000000000000077' }],
  ])('reads a value that hardly two transactions share off %s alone', async (index, query) => {
    const { db, keys } = environment.context;
    const plan = await explain((await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query })).compile());
    expect(plan[0]).toMatchObject({ key: index, rows: '1' });
  });

  it.each([{ platform: 'p2' }, { name: 'pessoa' }])(
    'gives MySQL its time-out where it reads one: %o',
    async (query) => {
      const { db, keys } = environment.context;
      const { sql: built } = (await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query })).compile();
      const text = limitSelect(built, 1800);
      expect(text).toMatch(
        /^\/\*M! SET STATEMENT max_statement_time=1\.8 FOR \*\/ select \/\*\+ MAX_EXECUTION_TIME\(1800\) \*\/ /i,
      );
      expect(text.includes('STRAIGHT_JOIN')).toBe('name' in query);
    },
  );

  it('gives all statements of a search one time, and runs none once it is spent', async () => {
    const { db, keys } = environment.context;
    const query = { by: 'created', limit: PAGE, name: 'pessoa 1', idPrefix: 'aaaaaaaa', merchant: 'mer_few' } as const;
    const limits: number[] = [];
    const watched = {
      ...db,
      selectFrom: db.selectFrom.bind(db),
      getExecutor: () => watchingExecutor(db, (text) => limits.push(Number(/EXECUTION_TIME\((\d+)\)/.exec(text)?.[1]))),
      // cast: a database of which the search uses these alone
    } as unknown as typeof db;
    // each reading of the clock takes 100 ms
    let now = 0;
    const tick = () => (now += 100);
    await searchTransactions(watched, keys, query, startBudget(1_800, tick));
    // of the name, of the id, the merchant and its callbacks, and the page
    expect(limits).toEqual([1_700, 1_600, 1_500, 1_400, 1_300]);
    limits.length = 0;
    const anyOf = [{ extra: 'none such' }, { amountCents: 700n }, { name: 'pessoa 7' }];
    const late = searchTransactions(watched, keys, { by: 'created', limit: PAGE, anyOf }, startBudget(350, tick));
    await expect(late).rejects.toMatchObject({ code: 'invalid_request', fields: { to: expect.any(Array) } });
    // the extra is read as it is and as it is withheld; the name is not read any more
    expect(limits).toEqual([250, 150, 50]);
  });

  it('ends a search that takes too long, and says what to narrow', async () => {
    const slow = sql`/*M! SET STATEMENT max_statement_time=0.05 FOR */
      SELECT /*+ MAX_EXECUTION_TIME(50) */ COUNT(*)
      FROM transactions AS a, transactions AS b WHERE a.reference < b.extra`;
    const errno = await slow.execute(environment.context.db).catch((error: { errno?: number }) => error.errno);
    // MariaDB's, MySQL's
    expect([1969, 3024]).toContain(errno);
    expect(SEARCH_MS_MAX).toBeLessThan(2_000);
    const { db, keys } = environment.context;
    // a Kysely whose executor fails; a class is not to be had from a spread, a cast is
    const timedOut = {
      ...db,
      selectFrom: db.selectFrom.bind(db),
      getExecutor: () => failingExecutor(db),
      // cast: a database of which the search uses these alone
    } as unknown as typeof db;
    const wide = searchTransactions(timedOut, keys, { by: 'created', limit: PAGE, platform: 'p2' });
    await expect(wide).rejects.toMatchObject({
      code: 'invalid_request',
      fields: { from: [expect.stringContaining('narrower')] },
    });
  });
});

/** A server that shows the text of each statement that it runs. */
function watchingExecutor(db: TestEnvironment['context']['db'], watch: (text: string) => void) {
  const executor = db.getExecutor();
  return new Proxy(executor, {
    get(target, name) {
      if (name !== 'executeQuery') return Reflect.get(target, name);
      return (query: Parameters<typeof executor.executeQuery>[0]) => {
        watch(query.sql);
        return target.executeQuery(query);
      };
    },
  });
}

/** A server whose time ran out. */
function failingExecutor(db: TestEnvironment['context']['db']) {
  const executor = db.getExecutor();
  return new Proxy(executor, {
    get: (target, name) =>
      name === 'executeQuery'
        ? () => Promise.reject(Object.assign(new Error('max_statement_time exceeded'), { errno: 1969 }))
        : Reflect.get(target, name),
  });
}

type Step = { key: string | null; rows: string | number; Extra: string };
async function explain(query: { sql: string; parameters: readonly unknown[] }): Promise<Step[]> {
  // MySQL draws a tree where it is not reported otherwise; MariaDB knows no such word
  const { rows: servers } = await sql<{ version: string }>`SELECT VERSION() AS version`.execute(environment.context.db);
  const format = servers[0]?.version.includes('MariaDB') ? '' : 'FORMAT=TRADITIONAL';
  const { rows } = await environment.context.db.executeQuery<Step>({
    ...sql`SELECT 1`.compile(environment.context.db),
    sql: `EXPLAIN ${format} ${query.sql}`,
    parameters: query.parameters,
  });
  return rows;
}

function idOf(seq: number): string {
  return `aaaaaaaa-0000-4000-8000-${String(seq).padStart(12, '0')}`;
}

async function countMatches(query: Partial<TransactionQuery>): Promise<number> {
  const { db, keys } = environment.context;
  const all = { by: 'created', limit: 1_000_000, ...query } as const;
  if (query.anyOf) return (await searchTransactions(db, keys, all)).transactions.length;
  return (await (await buildSearch(db, keys, all)).execute()).length;
}

/** Some thousands over a year, one a half minute or so, by INSERT … SELECT; some share a second. */
async function loadMany(): Promise<void> {
  const { db } = environment.context;
  const base = 1_000_000;
  const sequence = numbersTo(ROWS);
  const wall = sql`DATE_FORMAT('2025-01-01' + INTERVAL (seq DIV 2) * 2000 SECOND, '%Y-%m-%d %H:%i:%s')`;
  await sql`INSERT INTO transactions (seq, id, operation, status, status_wall, sequence, event_count, amount_cents, reference,
      extra, extra_hash, platform, e2e_id, created_wall, digest, asked_at, first_seen_at)
    SELECT ${base} + seq, CONCAT('aaaaaaaa-0000-4000-8000-', LPAD(seq, 12, '0')), IF(seq MOD 50 = 0, 'cashout', 'cashin'),
      IF(seq MOD 400 = 0, 'denied', 'paid'), ${wall}, 1, 1, (seq MOD 1000) * 100, CONCAT('pedido-', seq), CONCAT('shop-', seq MOD 5),
      UNHEX(SHA2(CONCAT('shop-', seq MOD 5), 256)), CONCAT('p', seq MOD 20), CONCAT('E', LPAD(seq, 20, '0')), ${wall}, REPEAT('x', 32),
      NOW(3), NOW(3) FROM ${sequence}`.execute(db);
  await sql`INSERT INTO parties (transaction_seq, name, document)
    SELECT ${base} + seq, CONCAT('Pessoa ', seq MOD 30), LPAD(seq MOD 10, 11, '0') FROM ${sequence}`.execute(db);
  await addCallbacks();
  await indexParties(environment.context);
  for (const table of ['transactions', 'parties', 'callbacks'])
    await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
}

/** Two merchants: one gets callbacks about every second transaction, one about a hundred of them. */
async function addCallbacks(): Promise<void> {
  const { db } = environment.context;
  for (const [id, every] of [
    ['mer_many', 2],
    ['mer_few', 300],
  ] as const) {
    const row = {
      id,
      name: id,
      url: 'http://127.0.0.1:9/',
      filter: '{}',
      events_since: new Date(),
      created_at: new Date(),
    };
    const inserted = await db.insertInto('merchants').values(row).executeTakeFirstOrThrow();
    const merchant = Number(inserted.insertId);
    await sql`INSERT INTO callbacks (webhook_id, merchant_seq, transaction_seq, event_seq, sequence, type, source, state, created_at)
      SELECT CONCAT(${id}, seq), ${merchant}, seq, seq, 1, 'pix.cashin.paid', 'webhook', 'delivered', NOW(3)
      FROM transactions WHERE seq MOD ${every} = 0`.execute(db);
  }
}
