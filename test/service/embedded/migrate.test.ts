import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../embedded/migrate.ts';
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

function writeStep(name: string, statement: string): void {
  const kysely = import.meta.resolve('kysely');
  const text = `import { sql } from '${kysely}';\nexport async function up(db) { await sql.raw(\`${statement}\`).execute(db); }\n`;
  writeFileSync(path.join(folder, `${name}.ts`), text);
}

const run = (options: { dryRun?: boolean; wait?: (ms: number) => Promise<unknown> } = {}) =>
  migrate(opened.db, { folder, log: (message) => logged.push(message), ...options });

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

test('a failed migration is not recorded, releases the lock, and runs again', async () => {
  writeStep('0004-fail-once', 'CREATE TABLE a (id INT)');
  await expect(run()).rejects.toThrow(/exists/);
  await sql`DROP TABLE a`.execute(opened.db);
  const { rows } = await sql`SELECT holder FROM migration_lock`.execute(opened.db);
  expect(rows, 'no lock is left behind').toEqual([{ holder: null }]);
  expect(await run()).toEqual(['0004-fail-once.ts']);
});
