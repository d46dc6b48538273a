import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import {
  buildSearch,
  SEARCH_MS_MAX,
  type SearchCursor,
  searchTransactions,
  type TransactionQuery,
} from '../../../src/ledger/read/search-transactions.ts';
import { indexParties } from '../../../src/privacy/index-parties.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const ROWS = 30_000;
const PAGE = 50;
const CPF = '123.456.789-09';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await openEnvironment();
});
afterAll(async () => {
  await environment[Symbol.asyncDispose]();
});

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
    await sql`UPDATE parties SET document_hash = NULL, name_folded = NULL, created_wall = NULL`.execute(
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
    for (const query of [{ extra: 'shop-1' }, { document: '00000000007' }, { name: 'pessoa 1' }, { status: 'paid' }]) {
      const met: string[] = [];
      let after: SearchCursor | undefined;
      let pages = 0;
      do {
        const found = await search({ ...query, after, limit: 200 });
        met.push(...found.transactions.map((one) => one.createdWall + one.id));
        after = found.next;
        pages++;
      } while (after && pages < 500);
      expect(new Set(met).size).toBe(met.length);
      expect(met.length).toBe(await countMatches(query));
      const walls = met.map((one) => one.slice(0, 19));
      expect(walls).toEqual([...walls].sort().reverse());
    }
  });

  const MONTH = { from: '2025-06-01', to: '2025-07-05' };
  it.each<[string, Partial<TransactionQuery>, string]>([
    ['id', { id: idOf(5) }, 'transactions_id'],
    ['reference', { reference: 'pedido-77' }, 'transactions_reference_day'],
    ['an extra that thousands share', { extra: 'shop-1' }, 'transactions_extra_day'],
    ['e2e_id', { e2eId: 'E00000000000000000077' }, 'transactions_e2e_day'],
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

  it.each([{ platform: 'p2' }, { name: 'pessoa' }])(
    'gives MySQL its time-out where it reads one: %o',
    async (query) => {
      const { db, keys } = environment.context;
      const text = (await buildSearch(db, keys, { by: 'created', limit: PAGE, ...query })).compile().sql;
      expect(text).toMatch(/^select \/\*\+ MAX_EXECUTION_TIME\(1800\) \*\/ /i);
      expect(text.includes('STRAIGHT_JOIN')).toBe('name' in query);
    },
  );

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

type Step = { key: string | null; Extra: string };
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
  const select = await buildSearch(db, keys, { by: 'created', limit: 1_000_000, ...query });
  return (await select.execute()).length;
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
  await indexParties(environment.context);
  for (const table of ['transactions', 'parties']) await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
}
