import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../embedded/migrations/migrate.ts';
import { MIGRATION_TOO_NEW } from '../../../embedded/migrations/plan-migrations.ts';
import { type OpenDatabase, openDatabase } from '../../../embedded/open-database.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

/** Migrations that fail if they run twice. */
const STEPS = ['0001-create-a', '0002-create-b', '0003-create-c'];
let home: ReturnType<typeof temporaryDirectory>;
let folder: string;
let opened: OpenDatabase<unknown>;
let logged: string[];

beforeAll(() => {
  home = temporaryDirectory();
  folder = path.join(home.path, 'migrations');
  mkdirSync(folder);
  for (const step of STEPS) writeStep(step, `CREATE TABLE ${step.at(-1)} (id INT PRIMARY KEY)`);
  writeFileSync(path.join(folder, 'notes.md'), 'no migration');
});
afterAll(() => home[Symbol.dispose]());

beforeEach(async () => {
  opened = openDatabase<unknown>(await createTestDatabase('empty'));
  logged = [];
  return () => opened[Symbol.asyncDispose]();
});

/** @returns the file. */
function writeStep(name: string, statement: string): string {
  const kysely = import.meta.resolve('kysely');
  const text = `import { sql } from '${kysely}';\nexport async function up(db) { await sql.raw(\`${statement}\`).execute(db); }\n`;
  const file = path.join(folder, `${name}.ts`);
  writeFileSync(file, text);
  return file;
}

const run = (options: { dryRun?: boolean; wait?: (ms: number) => Promise<unknown> } = {}) =>
  migrate(opened.db, { folder, version: '1.0.0', log: (message) => logged.push(message), ...options });

test('processes that migrate at once run each migration once, in order', async () => {
  const ran = await Promise.all([run(), run(), run(), run()]);
  expect(ran.flat()).toEqual(STEPS.map((step) => `${step}.ts`));
  expect(logged).toEqual(STEPS.map((step) => `migrated ${step}.ts`));
});

test('migrations run once, and a dry run lists the pending ones without running them', async () => {
  expect(await run({ dryRun: true })).toHaveLength(3);
  expect(logged).toEqual([]);
  await run();
  expect(await run()).toEqual([]);
  expect(await run({ dryRun: true })).toEqual([]);
});

test('the lock of a dead holder expires, and others wait until then', async () => {
  await run();
  await sql`DROP TABLE a, b, c`.execute(opened.db);
  await sql`DELETE FROM migrations`.execute(opened.db);
  await sql`UPDATE migration_lock SET holder = 'dead', held_until = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR`.execute(
    opened.db,
  );
  const ranAtWaits: number[] = [];
  const wait = async (): Promise<void> => {
    const { rows } = await sql`SELECT name FROM migrations`.execute(opened.db);
    ranAtWaits.push(rows.length);
    if (ranAtWaits.length === 3) {
      await sql`UPDATE migration_lock SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND`.execute(opened.db);
    }
  };
  expect(await run({ wait })).toHaveLength(3);
  expect(ranAtWaits).toEqual([0, 0, 0]);
});

test('a database that a newer version migrated is refused, with both versions', async () => {
  await run();
  await sql`INSERT INTO migrations (name, applied_at, version) VALUES ('0009-add-d.ts', NOW(), '9.1.0')`.execute(
    opened.db,
  );
  for (const dryRun of [true, false]) {
    await expect(run({ dryRun })).rejects.toMatchObject({
      code: MIGRATION_TOO_NEW,
      message:
        'the database was migrated by version 9.1.0 (it has 0009-add-d.ts), and this is version 1.0.0 ' +
        '(its last migration is 0003-create-c.ts): start version 9.1.0 or a later one',
    });
  }
  await sql`UPDATE migrations SET version = NULL WHERE name LIKE '0009-%'`.execute(opened.db);
  await expect(run()).rejects.toThrow(/^the database was migrated by a newer version \(it has 0009-add-d\.ts\)/);
});

test('each migration is recorded with the version that ran it, also in a table that 0.1.0 made', async () => {
  await run();
  await sql`DELETE FROM migrations WHERE name LIKE '0003-%'`.execute(opened.db);
  await sql`ALTER TABLE migrations DROP COLUMN version`.execute(opened.db);
  await sql`DROP TABLE c`.execute(opened.db);
  expect(await run()).toEqual(['0003-create-c.ts']);
  const { rows } = await sql`SELECT name, version FROM migrations ORDER BY name`.execute(opened.db);
  expect(rows).toEqual([
    ...STEPS.slice(0, 2).map((step) => ({ name: `${step}.ts`, version: null })),
    { name: '0003-create-c.ts', version: '1.0.0' },
  ]);
});

test('a change of a table that a long transaction uses lets writers through, and is made once that ends', async () => {
  await run();
  const file = writeStep('0005-alter-c', 'ALTER TABLE c ADD COLUMN more INT NULL');
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const reading = opened.db.transaction().execute(async (trx) => {
    await sql`SELECT * FROM c`.execute(trx);
    begun.resolve();
    await ended.promise;
  });
  await begun.promise;
  let written = 0;
  const wait = async (): Promise<void> => {
    // while the table is still read: without the short wait this would queue behind the change
    await sql`INSERT INTO c (id) VALUES (${++written})`.execute(opened.db);
    ended.resolve();
    await reading;
  };
  expect(await run({ wait }).finally(() => rmSync(file))).toEqual(['0005-alter-c.ts']);
  expect(written).toBe(1);
  expect(logged).toContain('0005-alter-c.ts waits until a table is not in use by a long transaction');
  const { rows } = await sql`SELECT id, more FROM c`.execute(opened.db);
  expect(rows).toEqual([{ id: 1, more: null }]);
});

test('a failed migration is not recorded, releases the lock, and runs again', async () => {
  writeStep('0004-fail-once', 'CREATE TABLE a (id INT)');
  await expect(run()).rejects.toThrow(/exists/);
  await sql`DROP TABLE a`.execute(opened.db);
  const { rows } = await sql`SELECT holder FROM migration_lock`.execute(opened.db);
  expect(rows, 'no lock is left behind').toEqual([{ holder: null }]);
  expect(await run()).toEqual(['0004-fail-once.ts']);
});
