import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { isStatementTimeout, limitStatementTime } from '../../../src/database/limit-statement-time.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

/** The table that each list reads first. */
const LISTS: Record<string, string> = {
  '/adjustments': 'adjustments',
  '/audit': 'audit',
  '/callbacks': 'callbacks',
  '/commissions': 'commission_contracts',
  '/merchants': 'merchants',
  '/mismatches': 'mismatches',
  '/numbers': 'run_windows',
  '/openings': 'openings',
  '/reconciliations': 'runs',
  '/reports': 'reports',
  '/statements': 'statements',
  '/tokens': 'tokens',
  '/transactions': 'transactions',
  '/webhooks': 'webhooks',
};

const CHARACTERS = 'information_schema.collations';
/** MySQL's SLEEP is no error when it is cut short: it answers 1. There a statement that counts for long takes its place. */
const COUNTS_LONG = `(SELECT COUNT(*) FROM ${CHARACTERS} a, ${CHARACTERS} b, ${CHARACTERS} c, ${CHARACTERS} d) * 0`;

const env = closeAfterAll(await openConsoleEnvironment());
/** An expression that takes these seconds or longer, and is 0. */
let sleep: (seconds: number) => string;
beforeAll(async () => {
  const { rows } = await sql<{ version: string }>`SELECT VERSION() AS version`.execute(env.context.db);
  const isMariaDb = rows[0]?.version.includes('MariaDB') ?? false;
  sleep = (seconds) => (isMariaDb || seconds < 1 ? `SLEEP(${seconds})` : COUNTS_LONG);
});

test('a SELECT that takes too long is ended by the server, one with WITH too, and others are not touched', async () => {
  const { db } = env.context;
  const limited = limitStatementTime(db, 50);
  const slow = limited.selectNoFrom(sql.raw<number>(sleep(1)).as('slept'));
  await expect(slow.execute()).rejects.toSatisfy(isStatementTimeout);
  const named = limited
    .with('one', (qb) => qb.selectNoFrom(sql.raw<number>(sleep(1)).as('slept')))
    .selectFrom('one')
    .selectAll();
  await expect(named.execute()).rejects.toSatisfy(isStatementTimeout);
  await expect(sql` SELECT ${sql.raw(sleep(1))} AS slept`.execute(limited)).rejects.toSatisfy(isStatementTimeout);
  expect((await sql`SELECT ${1} AS one`.execute(limited)).rows).toEqual([{ one: 1 }]);
  expect((await sql`DO SLEEP(0.1)`.execute(limited)).rows).toEqual([]);
  expect(await limited.selectNoFrom(sql<number>`1`.as('one')).execute()).toEqual([{ one: 1 }]);
  expect(await db.selectNoFrom(sql<number>`SLEEP(0.1)`.as('slept')).execute()).toEqual([{ slept: 0 }]);
  // of two limits, the first one stays
  const twice = limitStatementTime(limitStatementTime(db, 60_000), 50);
  expect(await twice.selectNoFrom(sql<number>`SLEEP(0.1)`.as('slept')).execute()).toEqual([{ slept: 0 }]);
  expect((await sql`SELECT SLEEP(0.1) AS slept`.execute(twice)).rows).toEqual([{ slept: 0 }]);
  // a limit stands before the whole statement alone
  const days = limited.selectFrom('reports').select('day');
  const both = days.union(limited.selectFrom('openings').select('day'));
  expect(await both.execute()).toEqual([]);
  const nested = limited
    .selectFrom('reports')
    .select('day')
    .where('day', 'in', limited.selectFrom('openings').select('day'));
  expect(await nested.execute()).toEqual([]);
  expect((await sql`SELECT (${limited.selectNoFrom(sql<number>`1`.as('one'))}) AS one`.execute(limited)).rows).toEqual([
    { one: 1 },
  ]);
  const distinct = limited.selectFrom('transactions').select('status').distinct().limit(1);
  expect(await distinct.execute()).toHaveLength(1);
});

test('each list of the API has a time limit, and its caller gets an error; so have the pages of the console', async () => {
  const { api, context } = env;
  const { get } = await openConsoleSession(env, 'admin');
  for (const table of new Set(Object.values(LISTS))) {
    await sql.raw(`RENAME TABLE ${table} TO slow_${table}`).execute(context.db);
    const slow = `(SELECT ${sleep(20)} AS s) slow LEFT JOIN slow_${table} t ON TRUE WHERE slow.s = 0`;
    await sql.raw(`CREATE VIEW ${table} AS SELECT t.* FROM ${slow}`).execute(context.db);
  }
  const ask = async (address: string) => {
    const { status, json } = await api<{ detail?: string }>('admin', 'GET', address);
    return [address, status, /narrow|takes too long/.test(json.detail ?? '')];
  };
  const outcomes = await Promise.all(Object.keys(LISTS).map(ask));
  expect(outcomes).toEqual(Object.keys(LISTS).map((one) => [one, one === '/transactions' ? 422 : 503, true]));
  const pages = await Promise.all(['/', '/callbacks'].map(get));
  for (const { status, text } of pages) {
    expect(status).toBe(503);
    expect(text).toContain('O banco de dados encerrou a leitura desta página no limite de tempo');
  }
});
