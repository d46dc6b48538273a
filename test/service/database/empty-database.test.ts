import mysql from 'mysql2/promise';
import { expect, inject, test } from 'vitest';
import { createTestDatabase, testServer } from '../../support/create-test-database.ts';
import { emptyDatabase } from '../../support/empty-database.ts';
import { readShape } from '../../support/make-templates.ts';

const template = inject('templates').confere;

/** Runs statements in a new database, and empties it. */
async function emptyAfter(...statements: string[]) {
  const { database } = await createTestDatabase();
  const connection = await mysql.createConnection({ ...testServer(), database });
  for (const statement of statements) await connection.query(statement);
  // the server lists a connection for a while after its end
  await connection.query('USE information_schema');
  await connection.end();
  return { database, isEmptied: await emptyDatabase(testServer(), database, template) };
}

test('a database that a test wrote becomes what its template is, counters and rows of migrations too', async () => {
  const { database, isEmptied } = await emptyAfter(
    `INSERT INTO runs (id, \`trigger\`, state, from_day, to_day, created_at, created_by)
     VALUES ('run_1', 'test', 'complete', '2026-01-01', '2026-01-01', NOW(), 'test')`,
    'DELETE FROM settings',
    'UPDATE sealing SET id = 2',
  );
  expect(isEmptied).toBe(true);
  const connection = await mysql.createConnection({ ...testServer(), database, multipleStatements: true });
  const { tables, triggers } = template;
  expect(await readShape(connection, Object.keys(tables))).toEqual({ tables, triggers });
  await connection.end();
});

test.each([
  ['a column', 'ALTER TABLE runs ADD COLUMN more INT'],
  ['an index', 'ALTER TABLE runs ADD INDEX more (created_by)'],
  ['a table', 'CREATE TABLE more (id INT)'],
  ['a trigger less', 'DROP TRIGGER entries_no_update'],
  ['a table less', 'DROP TABLE runs'],
])('a database with %s is not taken again', async (_, statement) => {
  expect((await emptyAfter(statement)).isEmptied).toBe(false);
});

test('a database that a connection is still in is not taken again', async () => {
  const { database } = await createTestDatabase();
  const connection = await mysql.createConnection({ ...testServer(), database });
  expect(await emptyDatabase(testServer(), database, template)).toBe(false);
  await connection.end();
});
