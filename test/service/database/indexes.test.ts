/** docs/indexes.md names every index of the tables, each with a statement that needs it: an index that no statement uses is a cost. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../../embedded/open-database.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { ROOT } from '../../support/previous-release.ts';

/** Named in a FORCE INDEX of 0.1.0, whose statement would fail without it. */
const FORCED_BY_PREVIOUS = [
  ...['alerts_spread', 'audit_at', 'callbacks_order', 'mismatches_kept', 'mismatches_open'],
  ...['transactions_id', 'transactions_reference_day'],
];

const described = [
  ...readFileSync(path.join(ROOT, 'docs/indexes.md'), 'utf8').matchAll(/^\| `(\w+)` \| `(.+?)` \| (.+?) \|$/gm),
].map(([, name = '', columns = '', need = '']) => ({ name, columns, need }));

let opened: OpenDatabase<unknown>;
let stored: { name: string; columns: string; unique: boolean }[];
beforeAll(async () => {
  opened = openDatabase<unknown>(await createTestDatabase());
  const { rows } = await sql<{ name: string; columns: string; repeats: number }>`SELECT INDEX_NAME AS name,
      MAX(NON_UNIQUE) AS repeats, GROUP_CONCAT(CONCAT(COLUMN_NAME, COALESCE(CONCAT('(', SUB_PART, ')'), ''))
        ORDER BY SEQ_IN_INDEX SEPARATOR ', ') AS columns
    FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME <> 'PRIMARY'
      AND TABLE_NAME NOT IN ('migrations', 'migration_lock') GROUP BY TABLE_NAME, INDEX_NAME`.execute(opened.db);
  stored = rows.map(({ name, columns, repeats }) => ({
    name,
    columns: String(columns),
    unique: Number(repeats) === 0,
  }));
});
afterAll(() => opened[Symbol.asyncDispose]());

test('every index is described with its columns, and no other', () => {
  const inOrder = (rows: { name: string; columns: string; unique: boolean }[]) =>
    rows.map(({ name, columns, unique }) => `${name} (${columns})${unique ? ' unique' : ''}`).toSorted();
  expect(stored.length).toBeGreaterThan(100);
  expect(inOrder(described.map((row) => ({ ...row, unique: row.need.startsWith('unique') })))).toEqual(inOrder(stored));
});

test('each named function is there, in a file that names the first column of its index', () => {
  const named = described.flatMap(({ name, columns, need }) => {
    const [, file, functionName] = /((?:src|jobs)\/\S+\.ts): (\w+)$/.exec(need) ?? [];
    return file && functionName ? [{ name, file, functionName, first: /^\w+/.exec(columns)?.[0] ?? '' }] : [];
  });
  expect(named.length).toBeGreaterThan(100);
  const wrong = named.filter(({ file, functionName, first }) => {
    if (!existsSync(path.join(ROOT, file))) return true;
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    return !new RegExp(`(?:function\\*?|const) ${functionName}\\b`).test(text) || !text.includes(first);
  });
  expect(wrong).toEqual([]);
  // what else stands there protects an id or a key from a second one, or goes with its table
  const others = described.filter(({ name }) => named.every((one) => one.name !== name));
  expect(others.filter(({ need }) => !need.startsWith('unique: ')).map(({ name }) => name)).toEqual([
    'histories_to_mend_left',
  ]);
});

test('each index that a statement of this or the previous release forces is there', () => {
  const files = ['src/**/*.ts', 'jobs/*.ts'].flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  const forced = files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/FORCE INDEX \((\w+)\)/g)].map(([, name = '']) => name),
  );
  expect(forced.length).toBeGreaterThan(8);
  const names = new Set(['PRIMARY', ...stored.map(({ name }) => name)]);
  expect([...forced, ...FORCED_BY_PREVIOUS].filter((name) => !names.has(name))).toEqual([]);
});
