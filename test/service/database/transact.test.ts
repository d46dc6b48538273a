import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Database } from '../../../src/database/tables.ts';
import { transact } from '../../../src/database/transact.ts';
import { transactionRetries } from '../../../src/metrics/metrics.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';

test.each([
  { name: 'the writer', multipleStatements: true },
  { name: 'another pool', multipleStatements: false },
])(
  'a transaction of $name whose connection is closed under it is run again, though its rollback fails for that too',
  async (pool) => {
    const target = { ...(await createTestDatabase()), connectionLimit: 2 };
    await using opened = openDatabase<Database>(target, undefined, pool);
    let runs = 0;
    const answer = await transact(opened.db, async (trx) => {
      runs++;
      if (runs <= 3) {
        const { rows } = await sql<{ id: number }>`SELECT CONNECTION_ID() AS id`.execute(trx);
        await sql`KILL CONNECTION ${sql.lit(rows[0]?.id ?? 0)}`.execute(opened.db);
      }
      const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(trx);
      return rows[0]?.one;
    });
    expect([answer, runs]).toEqual([1, 4]);
  },
);

test.each([
  { errno: 1213, meaning: 'a deadlock, or a commit that lost against another node', reason: 'deadlock' },
  { errno: 1205, meaning: 'a lock wait time-out', reason: 'lock_wait' },
  { errno: 1180, meaning: 'a commit on a node that was cut off', isUnknown: true, reason: 'lost' },
  { errno: 3100, meaning: 'a commit on a member that lost its group', isUnknown: true, reason: 'lost' },
  { errno: 3101, meaning: 'a commit that its group rolled back', isUnknown: true, reason: 'lost' },
  { errno: 3032, meaning: 'a server that is closed to clients', reason: 'unavailable' },
  { errno: 3797, meaning: 'a new primary that does not reach its group', reason: 'unavailable' },
  { errno: 1927, meaning: 'a connection that was killed', isUnknown: true, reason: 'lost' },
  { errno: 1053, meaning: 'a server that stops', isUnknown: true, reason: 'lost' },
  { errno: 4031, meaning: 'a connection that was idle for too long', isUnknown: true, reason: 'lost' },
  { errno: 1047, meaning: 'a node that is not ready', reason: 'unavailable' },
  { errno: 1290, meaning: 'a server that became read-only', reason: 'unavailable' },
  { errno: 1836, meaning: 'InnoDB that became read-only', reason: 'unavailable' },
])('$meaning ($errno) retries the work, counted as $reason, with whether it may be committed', async (failure) => {
  const { errno, isUnknown = false, reason } = failure;
  const count = async () =>
    (await transactionRetries.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  const before = await count();
  await using opened = openDatabase<Database>({ ...(await createTestDatabase()), connectionLimit: 1 });
  const seen: boolean[] = [];
  await transact(opened.db, async (trx, mayBeDone) => {
    seen.push(mayBeDone);
    if (seen.length === 1) await sql.raw(`SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${errno}`).execute(trx);
  });
  expect(seen).toEqual([false, isUnknown]);
  expect(await count()).toBe(before + 1);
});
