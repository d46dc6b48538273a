import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { isDatabaseAway } from '../../../src/database/open/explain-failure.ts';
import type { Database } from '../../../src/database/tables.ts';
import { listDays } from '../../../src/domain/calendar.ts';
import { findRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { chooseSeed, createRandom, numRuns } from '../../support/property.ts';
import { urlOf } from '../../support/start-serve.ts';

const PAST = new Date(Date.now() - 60_000);
const ROWS = 300;

const KILLS = numRuns(20, 150);
/** Of one run: each is to end. */
const ROUNDS_MAX = 60;

test('runs whose connections are killed at random, over and over, complete: none fails, and no payment is lost', async () => {
  const random = createRandom(chooseSeed(7));
  const target = await createTestDatabase();
  await using environment = await openReconciliationEnvironment({ DATABASE_URL: urlOf(target) });
  const { context, client, provider } = environment;
  // connections that are not killed
  await using operator = openDatabase<Database>({ ...target, database: 'information_schema', connectionLimit: 4 });
  const spared = operator.db.withSchema(target.database);
  let kills = 0;
  const killSome = async (): Promise<void> => {
    const { rows } = await sql<{ id: number }>`SELECT ID AS id FROM information_schema.PROCESSLIST
      WHERE DB = ${target.database}`.execute(operator.db);
    const chosen = rows.filter(() => random() < 0.6);
    // one that has ended meanwhile is an error
    const ended = chosen.map(({ id }) => sql`KILL CONNECTION ${sql.lit(Number(id))}`.execute(operator.db));
    kills += (await Promise.allSettled(ended)).filter(({ status }) => status === 'fulfilled').length;
  };
  const work = async (id: string): Promise<void> => {
    try {
      const run = await claimRun(context, { id });
      if (run) await executeRun(context, client, run);
    } catch (error) {
      // its lease ends, and a process takes it over
      if (!isDatabaseAway(error)) throw error;
    }
  };
  let rows = 0;
  for (const day of listDays(dayAgo(30), dayAgo(3))) {
    if (kills >= KILLS) break;
    provider.add(...makeDay(day, ROWS));
    rows += ROWS;
    const { id } = await startRun(
      { ...context, db: spared },
      { from: day, to: day, trigger: 'test', createdBy: 'test' },
    );
    for (let rounds = 0; (await findRun(spared, id))?.state !== 'complete'; ) {
      await spared.updateTable('runs').set({ not_before: PAST, lease_until: PAST }).where('id', '=', id).execute();
      let isDone = false;
      const working = work(id).finally(() => {
        isDone = true;
      });
      while (!isDone && rounds++ < ROUNDS_MAX) await killSome();
      await working;
      expect((await findRun(spared, id))?.state).not.toBe('failed');
    }
    expect(await findRun(spared, id)).toMatchObject({ total: ROWS, applied: ROWS, error: null });
  }
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  const { count } = await spared
    .selectFrom('transactions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  expect(count).toBe(rows);
  expect(await spared.selectFrom('alerts').select('name').execute()).toEqual([]);
});
