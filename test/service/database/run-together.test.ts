import { setImmediate as turn } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../../embedded/open-database.ts';
import { compileOnce } from '../../../src/database/compile-once.ts';
import { insertRows } from '../../../src/database/insert-returning.ts';
import { runTogether } from '../../../src/database/run-together.ts';
import type { Database } from '../../../src/database/tables.ts';
import { isDuplicateKey, isOutcomeUnknown, transact } from '../../../src/database/transact.ts';
import { countTrips as countAll } from '../../support/count-trips.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';

let writer: OpenDatabase<Database>;
let plain: OpenDatabase<Database>;
beforeAll(async () => {
  const target = { ...(await createTestDatabase('empty')), connectionLimit: 2 };
  writer = openDatabase<Database>(target, undefined, { multipleStatements: true });
  plain = openDatabase<Database>(target);
  await sql`CREATE TABLE rows_ (seq BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin UNIQUE,
    bytes VARBINARY(300), big_cents BIGINT, at DATETIME(3), day DATE)`.execute(plain.db);
});
beforeEach(() => sql`DELETE FROM rows_`.execute(plain.db));
afterAll(async () => {
  await writer[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

const insert = (trx: Transaction<Database>, name: string) =>
  sql`INSERT INTO rows_ (name) VALUES (${name})`.execute(trx);
const readNames = async () =>
  (await sql<{ name: string }>`SELECT name FROM rows_ ORDER BY seq`.execute(plain.db)).rows.map((row) => row.name);

/** Without BEGIN and COMMIT by themselves. */
const countTrips = (work: () => Promise<unknown>) => countAll(work, /^(begin|commit)$/);

test.each([
  { name: 'the writer', together: true },
  { name: 'another connection', together: false },
])('functions that run together on $name each get their own result, in order', async ({ together }) => {
  const { db } = together ? writer : plain;
  const [inserted, found, updated, nothing] = await transact(db, async (trx) => {
    await insert(trx, 'a');
    return await runTogether(trx, [
      (all) => insert(all, 'b'),
      (all) => sql<{ name: string }>`SELECT name FROM rows_ ORDER BY seq`.execute(all),
      (all) => sql`UPDATE rows_ SET name = CONCAT(name, ${'?;'})`.execute(all),
      (all) => sql`SELECT name FROM rows_ WHERE name = ${'x'}`.execute(all),
    ]);
  });
  expect(inserted).toMatchObject({ numAffectedRows: 1n, insertId: expect.any(BigInt) });
  expect(found.rows).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(updated).toMatchObject({ numAffectedRows: 2n, numChangedRows: 2n });
  expect(nothing).toEqual({ rows: [] });
  expect(await readNames()).toEqual(['a?;', 'b?;']);
});

test('what functions send in one turn takes one round trip, also their next statements', async () => {
  const twice = async (trx: Transaction<Database>, name: string) => {
    await insert(trx, name);
    // one function reaches its statement some microtasks later than another
    await Promise.resolve();
    await runTogether(trx, [(all) => insert(all, `${name} 2`), (all) => insert(all, `${name} 3`)]);
  };
  const work = (trx: Transaction<Database>) => runTogether(trx, [(all) => twice(all, 'a'), (all) => twice(all, 'b')]);
  expect(await countTrips(() => transact(writer.db, work))).toBe(2);
  expect(await readNames()).toEqual(['a', 'b', 'a 2', 'a 3', 'b 2', 'b 3']);
  await sql`DELETE FROM rows_`.execute(plain.db);
  expect(await countTrips(() => transact(plain.db, work))).toBe(6);
  const large = (trx: Transaction<Database>) =>
    runTogether(trx, [
      (all) => sql`SELECT LENGTH(${'x'.repeat(70_000)})`.execute(all),
      (all) => sql`SELECT LENGTH(${Buffer.alloc(4)})`.execute(all),
    ]);
  expect(await countTrips(() => transact(writer.db, large))).toBe(2);
});

test.each([
  { name: 'the writer', together: true },
  { name: 'another connection', together: false },
])('on $name a statement that fails stops the ones after it, is named, and nothing stays', async ({ together }) => {
  const { db } = together ? writer : plain;
  let tried = 0;
  const failing = transact(db, async (trx) => {
    tried++;
    const ends: string[] = [];
    const later = async (all: Transaction<Database>) => {
      await insert(all, 'a').catch(() => ends.push('first refused'));
      await insert(all, 'd').catch(() => ends.push('next refused'));
    };
    const caught: unknown = await runTogether(trx, [
      (all) => sql`INSERT INTO rows_ (name, day) VALUES (${'a'}, ${null})`.execute(all),
      (all) => insert(all, 'a'),
      later,
      (all) => insert(all, 'c'),
    ]).catch((error: unknown) => error);
    // a server that rolled back already would commit what comes after it
    const { rows } = await sql<{ name: string }>`SELECT name FROM rows_`.execute(trx);
    expect(rows).toEqual([{ name: 'a' }]);
    expect(ends).toEqual(['first refused', 'next refused']);
    throw caught;
  });
  const error: unknown = await failing.catch((caught: unknown) => caught);
  expect(isDuplicateKey(error)).toBe(true);
  // the first is BEGIN
  if (together) expect(error).toMatchObject({ failedIndex: 2, statement: 'INSERT INTO rows_ (name) VALUES (?)' });
  expect([tried, await readNames()]).toEqual([1, []]);
});

test('a connection that is lost among statements that run together: all is run again, once', async () => {
  const seen: boolean[] = [];
  await transact(writer.db, async (trx, mayBeDone) => {
    seen.push(mayBeDone);
    const { rows } = await sql<{ id: number }>`SELECT CONNECTION_ID() AS id`.execute(trx);
    await runTogether(trx, [
      (all) => insert(all, 'a'),
      (all) => (seen.length === 1 ? sql`KILL CONNECTION ${sql.lit(rows[0]?.id ?? 0)}`.execute(all) : insert(all, 'b')),
      (all) => insert(all, 'c'),
    ]).catch((error: unknown) => {
      // interrupted, as the server says before it closes, or lost
      expect(isOutcomeUnknown(error) || (error as { errno?: number }).errno === 1317).toBe(true);
      throw Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST' });
    });
  });
  expect([seen, await readNames()]).toEqual([
    [false, true],
    ['a', 'b', 'c'],
  ]);
});

test.each([
  { name: 'rejects', broken: () => Promise.reject(new Error('broken')) },
  {
    name: 'throws at once',
    broken: (): Promise<never> => {
      throw new Error('broken');
    },
  },
])('a function that $name waits for the others: none sends a statement after the rollback', async ({ broken }) => {
  const late = async (all: Transaction<Database>) => {
    await insert(all, 'a');
    await turn();
    await insert(all, 'b');
  };
  await expect(transact(writer.db, (trx) => runTogether(trx, [late, broken]))).rejects.toThrow('broken');
  expect(await readNames()).toEqual([]);
});

test('a statement that waits for others of its transaction is not sent once they failed', async () => {
  const late = async (all: Transaction<Database>) => {
    await turn();
    await insert(all, 'late');
  };
  const failing = transact(writer.db, (trx) =>
    runTogether(trx, [
      (all) => sql`SELECT SLEEP(0.05)`.execute(all),
      // as a deadlock does: what came after it would be committed by itself
      (all) => sql`ROLLBACK`.execute(all),
      (all) => sql`SELECT * FROM absent`.execute(all),
      late,
    ]),
  );
  await expect(failing).rejects.toMatchObject({ errno: 1146, failedIndex: 3 });
  expect(await readNames()).toEqual([]);
});

const NAMES = [
  "'); DROP TABLE rows_; --",
  '\\',
  "\\'",
  '"; SELECT 1; #',
  '? ?? ;',
  '\u0000\n\r\u001a\b\t%_',
  '🏦 ção \ud83d\ude00 ｡ ¥',
  "/*!50000 ' */",
  '',
];
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
const [BIG, AT] = [-9_223_372_036_854_775_808n, new Date('2026-02-28T23:59:59.987Z')];

const insertNames = (trx: Transaction<Database>, name: string) =>
  sql`INSERT INTO rows_ (name, bytes, big_cents, at, day) VALUES (${name}, ${BYTES}, ${BIG}, ${AT}, ${'2026-02-28'})`.execute(
    trx,
  );
// cast: its table is in no database of ours
const addRows = (trx: Transaction<Database>, rows: object[]) => insertRows(trx, 'rows_' as 'settings', rows as never[]);

test.each([
  {
    name: 'statements that run together',
    write: (trx: Transaction<Database>) =>
      runTogether(
        trx,
        NAMES.map((name) => (all: Transaction<Database>) => insertNames(all, name)),
      ),
  },
  {
    name: 'the rows of one INSERT, together with a statement',
    write: (trx: Transaction<Database>) => {
      const rows = NAMES.map((name) => ({ name, bytes: BYTES, big_cents: BIG, at: AT, day: '2026-02-28' }));
      return runTogether(trx, [(all) => addRows(all, rows), (all) => sql`SELECT ${'after'} AS name`.execute(all)]);
    },
  },
])('odd values of $name arrive as they are, and none ends its statement', async ({ write }) => {
  await transact(writer.db, async (trx) => void (await write(trx)));
  const { rows } = await sql<{ name: string; hex: string; big_cents: bigint; at: Date; day: string }>`
    SELECT name, HEX(bytes) AS hex, big_cents, at, day FROM rows_ ORDER BY seq`.execute(plain.db);
  const hex = BYTES.toString('hex').toUpperCase();
  expect(rows).toEqual(NAMES.map((name) => ({ name, hex, big_cents: BIG, at: AT, day: '2026-02-28' })));
});

test('a row gets the default of a column that others name, and NULL where it says null', async () => {
  await sql`ALTER TABLE rows_ ALTER COLUMN big_cents SET DEFAULT 7`.execute(plain.db);
  const rows = [
    { name: 'a' },
    { big_cents: 1n, name: 'b' },
    { name: 'c', big_cents: null },
    { name: 'd', big_cents: undefined },
  ];
  await transact(plain.db, (trx) => addRows(trx, rows));
  const { rows: found } = await sql`SELECT name, big_cents FROM rows_ ORDER BY seq`.execute(plain.db);
  await sql`ALTER TABLE rows_ ALTER COLUMN big_cents SET DEFAULT NULL`.execute(plain.db);
  expect(found).toEqual([
    { name: 'a', big_cents: 7n },
    { name: 'b', big_cents: 1n },
    { name: 'c', big_cents: null },
    { name: 'd', big_cents: 7n },
  ]);
});

test('a question mark that is no placeholder is refused: it would take the value of the next statement', async () => {
  const work = (trx: Transaction<Database>) =>
    runTogether(trx, [(all) => sql.raw("SELECT '?'").execute(all), (all) => insert(all, 'a')]);
  await expect(transact(writer.db, work)).rejects.toThrow('placeholders');
});

test('no other pool takes two statements in one text', async () => {
  await expect(sql.raw('SELECT 1; SELECT 2').execute(plain.db)).rejects.toMatchObject({ errno: 1064 });
});

test('a query that is compiled once takes odd values, lists and times, and runs among others', async () => {
  const select = compileOnce(
    (_, { names, at, bytes }: { names: string[]; at: Date; bytes: Buffer }) =>
      sql<{
        name: string;
      }>`SELECT name FROM rows_ WHERE name IN ${names} AND at = ${at} AND bytes = ${bytes} ORDER BY seq`,
  );
  await transact(writer.db, (trx) =>
    addRows(
      trx,
      NAMES.map((name) => ({ name, bytes: BYTES, at: AT })),
    ),
  );
  const given = { names: [...NAMES, 'nobody'], at: AT, bytes: BYTES };
  const found = NAMES.map((name) => ({ name }));
  for (const { db } of [plain, writer]) expect((await select(db, given)).rows).toEqual(found);
  const [both, one] = await transact(writer.db, (trx) =>
    runTogether(trx, [(all) => select(all, given), (all) => select(all, { ...given, names: NAMES.slice(0, 1) })]),
  );
  expect([both.rows, one.rows]).toEqual([found, found.slice(0, 1)]);
});

test('a query that is compiled once refuses to spread its values, which it would leave out', () => {
  const spread = () =>
    compileOnce((db, { name, ...change }: { name: string; state: string }) =>
      db.updateTable('merchants').set(change).where('name', '=', name),
    );
  expect(spread).toThrow('are named one by one');
});
