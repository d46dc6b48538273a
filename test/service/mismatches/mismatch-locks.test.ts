import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const ROWS = 1_000;
const SCOPES = 600;
const AN_INSERT = 500;

test('a mismatch that somebody else has locked holds up nobody whom it does not concern', async () => {
  await using environment = await openEnvironment();
  const { db, clock } = environment.context;
  const now = clock.now();
  const open = Array.from({ length: ROWS }, () => {
    const scope = randomUUID();
    const state = { kind: 'stuck', severity: 'high', state: 'open', scope, open_scope: `stuck ${scope}` };
    return { ...state, id: `mm_${scope}`, opened_at: now, baseline: 0 };
  });
  for (let from = 0; from < ROWS; from += AN_INSERT) {
    await db
      .insertInto('mismatches')
      .values(open.slice(from, from + AN_INSERT))
      .execute();
  }
  await sql`ANALYZE TABLE mismatches`.execute(db);
  // this many scopes beside so few rows: left to itself, the server would read the table whole
  const scopes = [...Array.from({ length: SCOPES - 1 }, () => randomUUID()), open.at(-1)?.scope ?? ''];
  const ended = await db.transaction().execute(async (theirs) => {
    await theirs.selectFrom('mismatches').select('seq').orderBy('seq').limit(2).forUpdate().execute();
    return await db.transaction().execute(async (ours) => {
      // a waiting statement fails at once, instead of after 50 s
      await sql`SET SESSION innodb_lock_wait_timeout = 1`.execute(ours);
      const over = scopes.map((scope) => ({ kind: 'stuck' as const, scope }));
      return await resolveMismatches(ours, over, 'fresh_evidence', now);
    });
  });
  expect(ended).toBe(1);
});
