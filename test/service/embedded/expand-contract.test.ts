/** The migrations since the previous release: its processes work on while these run, and afterwards (CONTRIBUTING.md). */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMigration } from '../../../embedded/migrations/migrate.ts';
import { classifyStatement, previewMigrations } from '../../../embedded/migrations/preview-migrations.ts';
import { type OpenDatabase, openDatabase } from '../../../embedded/open-database.ts';
import { findContractions, readSchema, type Schema } from '../../support/find-contractions.ts';
import {
  createPreviousDatabase,
  git,
  missesRelease,
  PREVIOUS,
  ROOT,
  UNUSED_COLUMNS,
} from '../../support/previous-release.ts';

const FOLDER = path.join(ROOT, 'migrations');
const missing = missesRelease();

let opened: OpenDatabase<unknown>;
let before: Schema;

/** A database of the previous release. */
beforeAll(async () => {
  opened = openDatabase<unknown>(await createPreviousDatabase());
  before = await readSchema(opened.db);
});
afterAll(() => opened[Symbol.asyncDispose]());

test('migrations since the previous release change tables while they take reads and writes', async () => {
  const ran: string[] = [];
  for (;;) {
    const [next] = await previewMigrations(opened.db, { folder: FOLDER, max: 1 });
    if (!next) break;
    expect(next.stopped, next.file).toBeUndefined();
    for (const { sql: text, table } of next.statements) {
      if (table) await runOnline(opened.db, next.file, text);
    }
    // a migration can run again
    await (await loadMigration(FOLDER, next.file)).up(opened.db);
    await sql`INSERT INTO migrations (name, applied_at) VALUES (${next.file}, UTC_TIMESTAMP(3))`.execute(opened.db);
    ran.push(next.file);
  }
  expect(ran.length).toBeGreaterThan(0);
});

/** @throws the server's error where it can't make the change without copying the table under a lock. */
async function runOnline(db: Kysely<unknown>, file: string, text: string): Promise<void> {
  const { effect } = classifyStatement(text);
  if (effect === 'rows') {
    expect(text, `${file}: rows are changed in batches`).toMatch(/\bLIMIT\b/);
    return;
  }
  await sql
    .raw(/^ALTER/i.test(text) ? `${text}, ALGORITHM=INPLACE, LOCK=NONE` : text)
    .execute(db)
    .catch((error: unknown) => {
      throw new Error(`${file} blocks writes while it runs: ${text}`, { cause: error });
    });
}

test('the previous release works on the tables of this version: nothing that it uses is gone or refuses its rows', async () => {
  const unused = new Set(UNUSED_COLUMNS);
  const columns = before.columns.filter(({ name }) => !unused.has(name));
  expect(columns.length).toBeGreaterThan(200);
  expect(findContractions({ ...before, columns }, await readSchema(opened.db))).toEqual([]);
});

test('the indexes over the ids of items hold 16 characters, and ids that share them are two ids', async () => {
  const { rows } = await sql<{ name: string; chars: number }>`SELECT INDEX_NAME AS name, SUB_PART AS chars
    FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'webhook_items'
    AND COLUMN_NAME IN ('transaction_id', 'resolved_id') ORDER BY name`.execute(opened.db);
  expect(rows.map(({ name, chars }) => [name, Number(chars)])).toEqual([
    ['webhook_items_resolved', 16],
    ['webhook_items_transaction', 16],
  ]);
  const [one, other] = ['a1b2c3d4-0000-7000-8000-000000000001', 'a1b2c3d4-0000-7000-8000-000000000002'];
  await sql`INSERT INTO webhook_items (webhook_seq, position, received_at, transaction_id, state)
    VALUES (1, 0, NOW(3), ${one}, 'applied'), (1, 1, NOW(3), ${other}, 'applied')`.execute(opened.db);
  const found = await sql<{ position: number }>`SELECT position FROM webhook_items
    FORCE INDEX (webhook_items_transaction) WHERE transaction_id = ${other}`.execute(opened.db);
  expect(found.rows.map(({ position }) => position)).toEqual([1]);
});

test('columns that may be dropped are not named in the code of the previous release', ({ skip }) => {
  if (missing) skip(missing);
  for (const name of UNUSED_COLUMNS) {
    const [, column = ''] = name.split('.');
    const uses = () => git('grep', '-lw', column, PREVIOUS.commit, '--', 'src', 'jobs', 'embedded');
    expect(uses, name).toThrow();
  }
});

test('the previous release is the newest tag, and its migrations are here as they were released', ({ skip }) => {
  if (missing) skip(missing);
  // the tag of this commit is its own
  const before = ['--merged', 'HEAD', '--no-contains', 'HEAD'];
  const [newest] = git('tag', '--list', 'v*', ...before, '--sort=-version:refname').split('\n');
  if (newest) {
    expect(newest, 'name the newest tag and its last migration in test/support/previous-release.ts').toBe(PREVIOUS.tag);
    expect(git('rev-parse', `${newest}^{commit}`)).toBe(PREVIOUS.commit);
  }
  const tagged = git('ls-tree', '--name-only', PREVIOUS.commit, 'migrations/')
    .split('\n')
    .map((name) => path.basename(name))
    .filter((name) => /^\d{4}-/.test(name));
  const released = readdirSync(FOLDER).filter((name) => /^\d{4}-/.test(name) && name <= PREVIOUS.lastMigration);
  expect(released).toEqual(tagged);
  for (const name of tagged) {
    const text = git('show', `${PREVIOUS.commit}:migrations/${name}`);
    expect(readFileSync(path.join(FOLDER, name), 'utf8').trim(), name).toBe(text);
  }
});
