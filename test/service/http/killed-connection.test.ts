import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import type { Database } from '../../../src/database/tables.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { watchReads } from '../../support/failing-database.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

const environment = closeAfterAll(await openApiEnvironment());

test('a request whose connection is killed while it reads is answered 503, and the next one 200', async () => {
  const target = parseDatabaseUrl(environment.env.DATABASE_URL ?? '');
  await using operator = openDatabase<Database>({ ...target, connectionLimit: 1 });
  const answer = await operator.db.connection().execute(async (db) => {
    await sql`LOCK TABLES transactions WRITE`.execute(db);
    const asked = environment.call('GET', '/transactions');
    const id = await eventually('the request waits for the table', async () => {
      const { rows } = await sql<{ id: number }>`SELECT ID AS id FROM information_schema.PROCESSLIST
        WHERE DB = DATABASE() AND STATE LIKE 'Waiting for table%'`.execute(db);
      return rows[0]?.id;
    });
    await sql`KILL CONNECTION ${sql.lit(Number(id))}`.execute(db);
    await sql`UNLOCK TABLES`.execute(db);
    return await asked;
  });
  expect(answer).toMatchObject({ status: 503, json: { detail: 'the database does not answer: try again' } });
  expect(await environment.call('GET', '/transactions')).toMatchObject({ status: 200 });
});

test.each([
  ['was killed', { errno: 1927, sqlState: '70100' }],
  ['ends with its server', { errno: 1053, code: 'ER_SERVER_SHUTDOWN', sqlState: '08S01' }],
  ['was closed between two statements', { fatal: true }],
])('a request whose connection %s is answered 503', async (_, fields) => {
  const context = watchReads(environment.context, 'transactions', () => {
    throw Object.assign(new Error('lost'), fields);
  });
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const get = async (address: string, headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${address}`, { headers });
    return [response.status, await response.text()] as const;
  };
  const api = await get('/api/v1/transactions', { authorization: `Bearer ${ADMIN_TOKEN}` });
  expect(api).toEqual([503, expect.stringContaining('the database does not answer: try again')]);
});
