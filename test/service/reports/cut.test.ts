import type { Transaction } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/tables.ts';
import { takeCut } from '../../../src/reports/take-cut.ts';
import { openBooks } from './books.ts';

async function addEntry(db: Transaction<Database>): Promise<number> {
  const row = {
    kind: 'adjustment',
    platform: 'p',
    at_wall: '2026-03-11 10:00:00',
    recorded_at: new Date(),
    source_kind: 'api',
  };
  return Number((await db.insertInto('entries').values(row).executeTakeFirstOrThrow()).insertId);
}

test('a cut waits for a lower entry that is written but not committed, so that nothing appears below it later', async () => {
  await using books = await openBooks();
  const { db } = books.context;
  const slow = await db.startTransaction().execute();
  const lower = await addEntry(slow);
  const higher = await db.transaction().execute(addEntry);
  expect(lower).toBeLessThan(higher);

  let taken = false;
  const cut = takeCut(db).then((one) => {
    taken = true;
    return one;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(taken).toBe(false);
  await slow.commit().execute();
  expect((await cut).entrySeq).toBe(higher);
});

test('a cut holds nobody up: entries are written while it is taken', async () => {
  await using books = await openBooks();
  const { db } = books.context;
  await db.transaction().execute(addEntry);
  const cuts = Promise.all(Array.from({ length: 5 }, () => takeCut(db)));
  for (let count = 0; count < 20; count++) await db.transaction().execute(addEntry);
  for (const { entrySeq } of await cuts) expect(entrySeq).toBeGreaterThan(0);
});
