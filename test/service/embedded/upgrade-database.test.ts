import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type Kysely, sql } from 'kysely';
import mysql from 'mysql2/promise';
import { beforeEach, expect, test } from 'vitest';
import { createApi } from '../../../demo/start-programs.ts';
import { migrate } from '../../../embedded/migrations/migrate.ts';
import { MIGRATION_TOO_OLD } from '../../../embedded/migrations/plan-migrations.ts';
import { type OpenDatabase, openDatabase } from '../../../embedded/open-database.ts';
import { baseline } from '../../../migrations/baseline.ts';
import { updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { createPreviousDatabase } from '../../support/previous-release.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));
/**
 * Three days of a sandbox's payments, received and reconciled by the last version with the migrations that the baseline
 * replaces. Each table has rows but `seal_stragglers`: a late entry made up there would break the chain.
 */
const DUMP = gunzipSync(
  readFileSync(new URL('../../fixtures/databases/before-baseline.sql.gz', import.meta.url)),
).toString();
/** The key that the dump's secrets are encrypted with. */
const SECRET_KEY = Buffer.alloc(32, 'fixture').toString('base64');

let target: Awaited<ReturnType<typeof createTestDatabase>>;
let old: OpenDatabase<unknown>;

beforeEach(async () => {
  target = await createTestDatabase('empty');
  const connection = await mysql.createConnection({ ...target, multipleStatements: true });
  await connection.query(DUMP);
  await connection.end();
  old = openDatabase<unknown>(target);
  return () => old[Symbol.asyncDispose]();
});

const run = (db: Kysely<unknown>, dryRun = false) => migrate(db, { folder: FOLDER, log: () => undefined, dryRun });

test('a database of the version before the baseline gets the schema of a new one, and keeps its rows', async () => {
  await using fresh = openDatabase<unknown>(await createTestDatabase('empty'));
  const created = await run(fresh.db);
  expect(created.filter((name) => name.includes('-baseline-'))).toHaveLength(13);
  const columns = await readColumns(old.db);
  const rows = await describeRows(old.db, columns);
  const empty = Object.keys(rows).filter((name) => rows[name]?.count === 0);
  expect(empty).toEqual(['seal_stragglers']);

  const later = created.filter((name) => !name.includes('-baseline-'));
  expect(await run(old.db, true), 'the baseline is not pending').toEqual(later);
  expect(await readNames(old.db), 'a dry run records nothing').toEqual(baseline.replaces);
  expect(await run(old.db)).toEqual(later);
  expect(await readNames(old.db)).toEqual([...baseline.replaces, ...created].sort());
  expect(await run(old.db)).toEqual([]);

  expect(await describeSchema(old.db)).toEqual(await describeSchema(fresh.db));
  // its days were proven by the rule of before
  const added = await sql`DELETE FROM settings WHERE name = 'clock_leeway_since'`.execute(old.db);
  expect(added.numAffectedRows).toBe(1n);
  expect(await describeRows(old.db, columns)).toEqual(rows);
});

test('a database of the previous release with rows gets the schema of a new one, and keeps them', async () => {
  await using previous = openDatabase<unknown>(await createPreviousDatabase());
  const names = await readNames(previous.db);
  await sql`DELETE FROM migrations`.execute(old.db);
  for (const name of names)
    await sql`INSERT INTO migrations (name, applied_at) VALUES (${name}, NOW(3))`.execute(old.db);
  const columns = await readColumns(old.db);
  const rows = await describeRows(old.db, columns);
  const pending = await run(old.db, true);
  expect(pending[0]).toMatch(/^0071-/);
  expect(await run(old.db)).toEqual(pending);

  await using fresh = openDatabase<unknown>(await createTestDatabase('empty'));
  await run(fresh.db);
  expect(await describeSchema(old.db)).toEqual(await describeSchema(fresh.db));
  await sql`DELETE FROM settings WHERE name = 'clock_leeway_since'`.execute(old.db);
  expect(await describeRows(old.db, columns)).toEqual(rows);
});

test('a database with only some of the replaced migrations is refused, and not changed', async () => {
  await sql`DELETE FROM migrations WHERE name LIKE '0070-%'`.execute(old.db);
  const before = await readNames(old.db);
  for (const dryRun of [true, false]) {
    await expect(run(old.db, dryRun)).rejects.toMatchObject({
      code: MIGRATION_TOO_OLD,
      message: expect.stringMatching(/lacks 0070-close-access.*confere migrate.*commit 1f71537/),
    });
  }
  expect(await readNames(old.db)).toEqual(before);
});

test('a database with a history that its version has not corrected is refused, and keeps it', async () => {
  await sql`UPDATE histories_to_mend SET mended_at = NULL LIMIT 1`.execute(old.db);
  await expect(run(old.db)).rejects.toThrow(
    /^1 histories .* are not corrected: run confere migrate of version 0\.1\.0/,
  );
  const { histories_to_mend: kept } = await describeRows(old.db, await readColumns(old.db));
  expect(kept?.count).toBeGreaterThan(0);
  await sql`UPDATE histories_to_mend SET mended_at = NOW() WHERE mended_at IS NULL`.execute(old.db);
  expect(await run(old.db)).toContain('0075-drop-histories-to-mend.ts');
});

test('a database with a reference in the scope of a mismatch or an alert is refused', async () => {
  const started = [
    sql`UPDATE mismatches SET kind = 'duplicate_reference', scope = 'reference:pedido 7' ORDER BY seq LIMIT 1`,
    sql`UPDATE alerts SET name = 'duplicate_reference', summary = 'duplicate_reference: reference:pedido 7' ORDER BY seq LIMIT 1`,
  ];
  for (const statement of started) await statement.execute(old.db);
  await expect(run(old.db)).rejects.toThrow(
    /^2 mismatches and alerts .* contain a reference: start version 0\.1\.0 once/,
  );
  await sql`UPDATE mismatches SET scope = 'hmac:7' WHERE kind = 'duplicate_reference'`.execute(old.db);
  await sql`UPDATE alerts SET summary = 'duplicate_reference: mismatch mm_7' WHERE name = 'duplicate_reference'`.execute(
    old.db,
  );
  expect(await run(old.db)).toContain('0080-refuse-references-in-scopes.ts');
});

test('a database that has the baseline recorded is not refused for what it lacks of the replaced migrations', async () => {
  await run(old.db);
  await sql`DELETE FROM migrations WHERE name LIKE '0070-%'`.execute(old.db);
  expect(await run(old.db)).toEqual([]);
});

test('the service works on an upgraded database', async () => {
  await using sandbox = await startTestSandbox();
  const provider = createApi(sandbox.url, '', API_KEY);
  await using served = await openServedEnvironment({ providerUrl: sandbox.url, on: target, env: { SECRET_KEY } });
  const { db } = served.context;
  const { count } = await db
    .selectFrom('transactions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  expect(await checkBooks(served.context)).toMatchObject({ broken: 0, breaks: [] });

  const made = await provider.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
    operation: 'cashin',
    amount: '77.31',
    status: 'paid',
  });
  const id = made.transactions[0]?.id;
  expect(await served.webhook({ transaction_id: id, status: 'paid' })).toMatchObject({ status: 200 });
  await eventually(() => served.api.call('GET', `/transactions/${id}`).catch(() => undefined));
  const { transactions } = await served.api.call<{ transactions: { id: string }[] }>('GET', '/transactions?limit=100');
  expect(transactions).toHaveLength(count + 1);
  const { day } = await db.selectFrom('reports').select('day').orderBy('seq').executeTakeFirstOrThrow();
  await served.api.call('POST', '/reports', { day });
  const csv = await eventually(() => served.api.fetch(`/reports/${day}.csv`).catch(() => undefined));
  expect(csv.toString().split('\n').length).toBeGreaterThan(2);
  expect(await checkBooks(served.context)).toMatchObject({ broken: 0, breaks: [] });
});

test('a merchant of an upgraded database whose filter is widened gets nothing twice, and old messages keep their ids', async () => {
  // a backfill waits while its merchant takes nothing
  await sql`UPDATE callbacks SET state = 'delivered', next_attempt_at = NULL, delivered_at = created_at`.execute(
    old.db,
  );
  await sql`UPDATE merchants SET state = 'enabled', failing_since = NULL, breaker_opened_at = NULL`.execute(old.db);
  await using env = await openEnvironment({ SECRET_KEY }, target);
  const { context } = env;
  const readMessages = () =>
    context.db
      .selectFrom('callbacks')
      .leftJoin('events', 'events.seq', 'callbacks.event_seq')
      .select([
        'callbacks.seq',
        'webhook_id',
        'merchant_seq',
        'callbacks.transaction_seq',
        'callbacks.sequence',
        'type',
      ])
      .select(['events.status', 'events.number'])
      .where('callbacks.transaction_seq', 'is not', null)
      .orderBy('callbacks.seq')
      .execute();
  const before = await readMessages();
  expect(before.filter((row) => row.status !== null && row.number === null).length).toBeGreaterThan(0);
  for (const { id } of await context.db.selectFrom('merchants').select('id').where('deleted_at', 'is', null).execute())
    await updateMerchant(context, id, { filter: {}, eventsSince: new Date(0) });
  await runBackfills(context);
  const after = await readMessages();
  expect(after.length).toBeGreaterThan(before.length);
  expect(after.slice(0, before.length)).toEqual(before);
  const twice = Map.groupBy(after, (row) => `${row.merchant_seq} ${row.transaction_seq} ${row.type} ${row.sequence}`);
  expect([...twice.values()].filter((rows) => rows.length > 1)).toEqual([]);
});

async function readNames(db: Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The columns of each table but those that `migrate` itself writes. */
async function readColumns(db: Kysely<unknown>): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; column: string }>`
    SELECT table_name AS name, column_name AS \`column\` FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name NOT IN ('migrations', 'migration_lock')`.execute(db);
  const byTable = Map.groupBy(rows, ({ name }) => name);
  return new Map([...byTable].map(([name, columns]) => [name, columns.map(({ column }) => column)]));
}

type Rows = { count: number; checksum: unknown };

/** Number and checksum of the rows of each table, over these columns. */
async function describeRows(db: Kysely<unknown>, columns: Map<string, string[]>): Promise<Record<string, Rows>> {
  const described = [...columns].map(async ([name, ofTable]) => {
    const values = sql.join(ofTable.map((column) => sql`IFNULL(HEX(${sql.ref(column)}), '-')`));
    const { rows } = await sql<Rows>`SELECT COUNT(*) AS count, SUM(CRC32(CONCAT_WS(',', ${values}))) AS checksum
      FROM ${sql.table(name)}`.execute(db);
    return [name, { count: Number(rows[0]?.count), checksum: rows[0]?.checksum }] as const;
  });
  return Object.fromEntries(await Promise.all(described));
}

/** Tables, columns in their order, indexes and triggers. Column comments may differ: they are documentation only. */
async function describeSchema(db: Kysely<unknown>): Promise<Record<string, unknown[]>> {
  const tables = sql`SELECT table_name, engine, table_collation FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name`;
  const columns = sql`SELECT table_name, column_name, ordinal_position, column_default, is_nullable, column_type,
      character_set_name, collation_name, column_key, extra, generation_expression
    FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`;
  const indexes = sql`SELECT table_name, index_name, seq_in_index, column_name, non_unique, sub_part, collation, index_type
    FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`;
  const triggers = sql`SELECT trigger_name, event_object_table, action_timing, event_manipulation, action_statement
    FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY trigger_name`;
  const read = async (query: typeof tables) => (await query.execute(db)).rows;
  return {
    tables: await read(tables),
    columns: await read(columns),
    indexes: await read(indexes),
    triggers: await read(triggers),
  };
}
