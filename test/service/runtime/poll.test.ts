import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/tables.ts';
import { createPoll, type Question } from '../../../src/runtime/poll.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openTestContext } from '../../support/open-environment.ts';

const context = closeAfterAll(await openTestContext());

const stored: Question = () => [context.db.selectFrom('settings').select('name')];
const absent: Question = () => [context.db.selectFrom('webhooks').select('seq')];
const either: Question = () => [...absent(), ...stored()];

function countStatements(db: Kysely<Database>): { db: Kysely<Database>; count: () => number } {
  let count = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      count++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { db: db.withPlugin(plugin), count: () => count };
}

test('questions that are asked at the same time go in one statement, and each gets its own answer', async () => {
  const { db, count } = countStatements(context.db);
  const poll = createPoll(db);
  const answers = await Promise.all([stored, absent, either, absent, stored].map((question) => poll(question)));
  expect(answers).toEqual([true, false, true, false, true]);
  expect(count()).toBe(1);
});

test('a question that fails does so for its own loop; the others are answered', async () => {
  const poll = createPoll(context.db);
  const failing: Question = () => [sql`(SELECT 1 FROM no_such_table)`];
  const answers = await Promise.allSettled([poll(stored), poll(failing), poll(absent)]);
  expect(answers).toEqual([
    { status: 'fulfilled', value: true },
    { status: 'rejected', reason: expect.objectContaining({ code: 'ER_NO_SUCH_TABLE' }) },
    { status: 'fulfilled', value: false },
  ]);
});

test('a question that waits for a table does not hold back the others', async () => {
  const poll = createPoll(context.db, 20);
  const locked: Question = () => [context.db.selectFrom('imports').select('seq')];
  const waiting = await context.db.connection().execute(async (connection) => {
    await sql`LOCK TABLES imports WRITE`.execute(connection);
    const answer = poll(locked);
    expect(await Promise.all([poll(stored), poll(absent)])).toEqual([true, false]);
    // asked again while the first question still waits
    expect(await Promise.all([poll(stored), poll(absent)])).toEqual([true, false]);
    await sql`UNLOCK TABLES`.execute(connection);
    return { answer };
  });
  expect(await waiting.answer).toBe(false);
});
