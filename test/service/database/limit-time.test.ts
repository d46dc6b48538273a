import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isStatementTimeout, limitStatementTime } from '../../../src/database/limit-statement-time.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';

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

let env: ConsoleEnvironment;
beforeAll(async () => {
  env = await openConsoleEnvironment();
});
afterAll(() => env[Symbol.asyncDispose]());

test('a SELECT that takes too long is ended by the server, one with WITH too, and others are not touched', async () => {
  const { db } = env.context;
  const limited = limitStatementTime(db, 50);
  const slow = limited.selectNoFrom(sql<number>`SLEEP(1)`.as('slept'));
  await expect(slow.execute()).rejects.toSatisfy(isStatementTimeout);
  const named = limited
    .with('one', (qb) => qb.selectNoFrom(sql<number>`SLEEP(1)`.as('slept')))
    .selectFrom('one')
    .selectAll();
  await expect(named.execute()).rejects.toSatisfy(isStatementTimeout);
  expect(await limited.selectNoFrom(sql<number>`1`.as('one')).execute()).toEqual([{ one: 1 }]);
  expect(await db.selectNoFrom(sql<number>`SLEEP(0.1)`.as('slept')).execute()).toEqual([{ slept: 0 }]);
  const distinct = limited.selectFrom('transactions').select('status').distinct().limit(1);
  expect(await distinct.execute()).toHaveLength(1);
});

test('each list of the API has a time limit, and its caller gets an error', async () => {
  const { context, url, tokens } = env;
  for (const table of new Set(Object.values(LISTS))) {
    await sql.raw(`RENAME TABLE ${table} TO slow_${table}`).execute(context.db);
    const slow = `(SELECT SLEEP(20) AS s) slow LEFT JOIN slow_${table} t ON TRUE WHERE slow.s = 0`;
    await sql.raw(`CREATE VIEW ${table} AS SELECT t.* FROM ${slow}`).execute(context.db);
  }
  const ask = async (address: string) => {
    const response = await fetch(`${url}/api/v1${address}`, { headers: { authorization: `Bearer ${tokens.admin}` } });
    const { detail } = (await response.json()) as { detail?: string };
    return [address, response.status, /narrow it/.test(detail ?? '')];
  };
  const outcomes = await Promise.all(Object.keys(LISTS).map(ask));
  expect(outcomes).toEqual(Object.keys(LISTS).map((one) => [one, one === '/transactions' ? 422 : 503, true]));
});
