import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { readStoredDigests } from '../../../src/ledger/apply/drop-unchanged.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReads } from '../../support/count-reads.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';

const OPEN = 50_000;

const environment = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  const digit = sql`(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6
    UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)`;
  // as one fault of the provider's leaves them: every row of a day refused
  await sql`INSERT INTO mismatches (id, kind, severity, state, scope, open_scope, opened_at, baseline)
    SELECT CONCAT('mm_', n), 'row_refused', 'high', 'open', CONCAT('id-', n), CONCAT('row_refused id-', n), '2026-11-20', 0
    FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
      FROM ${digit} a, ${digit} b, ${digit} c, ${digit} e, ${digit} f) numbers WHERE n < ${OPEN}`.execute(
    environment.context.db,
  );
});

test(`an apply beside ${OPEN} open mismatches reads those of its own transactions alone`, async () => {
  const { context } = environment;
  const rows = Array.from({ length: 100 }, () => makeShownTransaction(['paid@1']));
  await applyObservations(
    context,
    rows.map((row) => observeNow(context, row)),
  );
  const ids = [...rows.map((row) => row.id), ...Array.from({ length: 100 }, () => randomUUID())];
  let known: unknown[] = [];
  const reads = await countReads(context.db, async (db) => {
    known = await readStoredDigests({ db }, ids);
  });
  expect(known).toHaveLength(100);
  // a few for each id and kind, none for what others have open
  expect(reads).toBeLessThan(ids.length * 10);
});

test('an observation at a transaction whose row was refused still ends that', async () => {
  const { context } = environment;
  await applyObservations(context, [observeNow(context, makeShownTransaction(['paid@1'], { id: 'id-7' }))]);
  const [reported] = (await readMismatchRows(context, 'row_refused')).filter((one) => one.id === 'mm_7');
  expect(reported ?? { state: 'resolved' }).toMatchObject({ state: 'resolved' });
  const left = await context.db
    .selectFrom('mismatches')
    .select('state')
    .where('id', '=', 'mm_7')
    .executeTakeFirstOrThrow();
  expect(left.state).toBe('resolved');
});
