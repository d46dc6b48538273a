import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { sql } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Database } from '../../../src/database/tables.ts';
import { checkGrants } from '../../../src/doctor/check-grants.ts';
import { describeSaid } from '../../../src/texts/messages.ts';
import { createTestDatabase, testServer } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const user = `serve_${randomBytes(4).toString('hex')}`;
const password = randomBytes(8).toString('hex');
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let restricted: Record<string, string>;

async function asRoot(...statements: string[]): Promise<void> {
  const connection = await mysql.createConnection({ ...testServer(), database: database.database });
  for (const statement of statements) await connection.query(statement);
  await connection.end();
}

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  database = await createTestDatabase();
  const owner = { DATABASE_URL: urlOf(database), SECRET_KEY, DATA_DIR: path.join(home.path, 'owner') };
  expect(await runCommandInProcess(['migrate'], owner)).toMatchObject({ code: 0 });
  const { out } = await runCommandInProcess(['migrate', '--grants', `${user}@localhost`, '--json'], owner);
  const { statements } = JSON.parse(out) as { statements: string[] };
  await asRoot(`CREATE USER '${user}'@'localhost' IDENTIFIED BY '${password}'`, ...statements);
  stack.defer(() => asRoot(`DROP USER '${user}'@'localhost'`));
  const DATABASE_URL = urlOf(database).replace('root@', `${user}:${password}@`);
  restricted = { DATABASE_URL, SECRET_KEY, DATA_DIR: path.join(home.path, 'data') };
});
afterAll(() => stack.disposeAsync());

test('serve does all of its work as a user that can only add to the ledger', async () => {
  const day = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
  await using sandbox = await startTestSandbox(['--history', '2', '--per-day', '30']);
  await using served = await openServedEnvironment({ providerUrl: sandbox.url, env: restricted });
  const from = new Date(Date.now() - 4 * 86_400_000).toISOString().slice(0, 10);
  const { id } = await served.api.call<{ id: string }>('POST', '/reconciliations', { from, to: day });
  await eventually(async () => {
    const run = await served.api.call<{ state: string }>('GET', `/reconciliations/${id}`);
    return run.state === 'complete';
  });
  await served.api.call('POST', '/openings', { platform: 'p', day: from, balance: '10.00', new_platform: true });
  const fee = { platform: 'p', day: from, kind: 'fee', amount: '-1.00', note: 'n', new_platform: true };
  const adjustment = await served.api.call<{ id: string }>('POST', '/adjustments', fee);
  await served.api.call('POST', '/adjustments', { reverses: adjustment.id, note: 'wrong' });
  await served.api.call('POST', '/reports', { day });
  const sealed = await eventually(async () => {
    const answer = await served.api.call<{ sealed: { position: number } | null }>('GET', '/balances');
    return answer.sealed ?? undefined;
  });
  expect(sealed.position).toBeGreaterThan(0);
  // a table that is only appended to takes no INSERT … ON DUPLICATE KEY UPDATE of this user
  await eventually('a checkpoint of the log', async () => {
    await served.timers.advance(60_000);
    const { rows } = await sql`SELECT seq FROM log_checkpoints`.execute(served.context.db);
    return rows.length > 0;
  });
  const doctor = await runCommandInProcess(['doctor', '--books', '--json'], restricted);
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
  expect(describeSaid(findings.find((one) => one.check === 'grants')?.says ?? '')).toContain('and not change them');
  expect(findings.find((one) => one.check === 'books')).toMatchObject({ ok: true });
});

test('the granted user sees no database whose name differs at an underscore', async () => {
  expect(database.database).toContain('_');
  const other = database.database.replace('_', 'x');
  await asRoot(`CREATE DATABASE \`${other}\``, `CREATE TABLE \`${other}\`.secrets (id INT)`);
  const connection = await mysql.createConnection({ ...testServer(), user, password, database: database.database });
  try {
    await expect(connection.query(`SELECT * FROM \`${other}\`.secrets`)).rejects.toMatchObject({ errno: 1142 });
  } finally {
    await connection.end();
    await asRoot(`DROP DATABASE \`${other}\``);
  }
});

test.each(['events', 'entries', 'postings', 'seals', 'seal_stragglers'])(
  'and cannot change or delete %s, triggers or none',
  async (table) => {
    const connection = await mysql.createConnection({ ...testServer(), user, password, database: database.database });
    const columns = {
      events: 'status',
      entries: 'kind',
      postings: 'position',
      seals: 'entries',
      seal_stragglers: 'position',
    };
    const column = columns[table as keyof typeof columns];
    await expect(connection.query(`UPDATE ${table} SET ${column} = ${column}`)).rejects.toMatchObject({ errno: 1142 });
    await expect(connection.query(`DELETE FROM ${table}`)).rejects.toMatchObject({ errno: 1142 });
    await expect(connection.query(`DROP TRIGGER ${table}_no_delete`)).rejects.toMatchObject({ errno: 1142 });
    await expect(connection.query(`TRUNCATE ${table}`)).rejects.toMatchObject({ errno: 1142 });
    await connection.end();
  },
);

test('the doctor reports where only triggers prevent changes, and where nothing does', async () => {
  await using owner = openDatabase<Database>(database);
  const says = describeSaid(await checkGrants(owner.db));
  const { rows: guarded } = await sql<{
    name: string;
  }>`SELECT event_object_table AS name FROM information_schema.triggers
    WHERE trigger_schema = DATABASE() AND trigger_name = CONCAT(event_object_table, '_no_delete')`.execute(owner.db);
  // each table with such triggers, and no other
  expect(new Set(/^only triggers prevent this user from (.*?);/.exec(says)?.[1]?.split(', '))).toEqual(
    new Set(guarded.flatMap(({ name }) => [`update ${name}`, `delete ${name}`])),
  );
  await dropTriggers(owner.db);
  await expect(checkGrants(owner.db)).rejects.toThrow('nothing prevents this user from: update events, delete events');
});

test('a name that no server takes is wrong use', async () => {
  const owner = { DATABASE_URL: urlOf(database), SECRET_KEY, DATA_DIR: path.join(home.path, 'owner') };
  expect(await runCommandInProcess(['migrate', '--grants', "x' IDENTIFIED"], owner)).toMatchObject({ code: 2 });
});
