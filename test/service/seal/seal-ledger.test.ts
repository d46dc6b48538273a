import fc from 'fast-check';
import { type Kysely, sql, type Transaction } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import type { Database } from '../../../src/database/tables.ts';
import { transact } from '../../../src/database/transact.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { readWatermark, type Watermark } from '../../../src/seal/await-watermark.ts';
import { readNewestSeal, readSeal } from '../../../src/seal/read-seals.ts';
import { sealLedger, sealNow } from '../../../src/seal/seal-ledger.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { anyTimeline, observeTimeline } from '../../support/make-observations.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { dropTriggers, interruptAfterRow, makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { referenceChain } from '../../support/reference-chain.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

async function learn(...histories: string[][]): Promise<void> {
  const rows = histories.map((history) => makeShownTransaction(history, { platform: 'p' }));
  await applyObservations(
    environment.context,
    rows.map((row) => observeNow(environment.context, row)),
  );
}

/** An entry of a person's with two postings, by hand. @param seq its number; undefined: the next one. */
async function addEntry(db: Kysely<Database> | Transaction<Database>, seq?: number): Promise<number> {
  const row = {
    kind: 'adjustment',
    platform: 'p',
    at_wall: '2026-03-11 10:00:00',
    recorded_at: new Date(),
    source_kind: 'show',
  };
  const result = await db
    .insertInto('entries')
    .values(seq === undefined ? row : { ...row, seq })
    .executeTakeFirstOrThrow();
  const entrySeq = seq ?? Number(result.insertId);
  const posting = { entry_seq: entrySeq, at_wall: row.at_wall };
  await db
    .insertInto('postings')
    .values([
      { ...posting, position: 0, account_seq: 1, amount_cents: 5n },
      { ...posting, position: 1, account_seq: 2, amount_cents: -5n },
    ])
    .execute();
  return entrySeq;
}

/** Of the loop: time for its round, which asks the database, and the second that it then waits. */
async function advanceSecond(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60));
  await environment.timers.advance(1_000);
}

async function listEntries(): Promise<number[]> {
  const rows = await environment.context.db.selectFrom('entries').select('seq').orderBy('seq').execute();
  return rows.map((row) => row.seq);
}

/** Derived balances that differ from the sum of the postings, for one granularity. */
async function findWrongBalances(chars: number, grain: string) {
  const { rows } = await sql`SELECT span, account_seq, SUM(cents) AS difference FROM (
      SELECT LEFT(at_wall, ${chars}) AS span, account_seq, amount_cents AS cents FROM postings
      UNION ALL SELECT span, account_seq, -amount_cents FROM balance_spans WHERE grain = ${grain}
    ) AS both_sides GROUP BY span, account_seq HAVING difference <> 0`.execute(environment.context.db);
  return rows;
}

test('each position seals the entries committed since the one before; an independent implementation computes the same hash', async () => {
  const { context } = environment;
  const empty = await sealNow(context);
  expect(empty).toMatchObject({ position: 1, entrySeq: 0 });
  await learn(['paid@1'], ['pending@1', 'paid@2', 'refund@3']);
  const first = await sealNow(context);
  await openBooks(context, { platform: 'p', day: '2026-11-20', balanceCents: 500n, actor: 'command' });
  await learn(['paid@4', 'refund@5']);
  const second = await sealNow(context);
  expect([first.position, second.position]).toEqual([2, 3]);
  expect(second.entrySeq).toBe((await listEntries()).at(-1));
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
  expect(await readSeal(context.db, 2)).toEqual(first);
  for (const [grain, chars] of [
    ['month', 7],
    ['day', 10],
    ['hour', 13],
  ] as const) {
    expect(await findWrongBalances(chars, grain)).toEqual([]);
  }
});

test('without new rows, sealing returns the current head', async () => {
  await learn(['paid@1']);
  const head = await sealNow(environment.context);
  expect(await sealNow(environment.context)).toEqual(head);
  expect(await readNewestSeal(environment.context.db)).toEqual(head);
});

test.each([
  ['a cent', 'UPDATE postings SET amount_cents = amount_cents + 1 WHERE position = 0 LIMIT 1'],
  ['an account', 'UPDATE postings SET account_seq = account_seq + 1 WHERE position = 0 LIMIT 1'],
  ['the time of an event', "UPDATE events SET at_wall = '2026-01-01 00:00:00' LIMIT 1"],
  ['when it was known', "UPDATE entries SET recorded_at = '2026-01-01' LIMIT 1"],
  ['where it came from', "UPDATE entries SET source_kind = 'list' LIMIT 1"],
  ['an entry that is gone', 'DELETE FROM entries LIMIT 1'],
])('what is changed afterwards shows: %s', async (_, damage) => {
  await learn(['paid@1']);
  await sealNow(environment.context);
  await learn(['paid@2']);
  await sealNow(environment.context);
  await dropTriggers(environment.context.db);
  await sql.raw(damage).execute(environment.context.db);
  expect((await referenceChain(environment.context.db)).wrong).toEqual([1]);
});

test('a chain built anew over changed books has another head', async () => {
  await learn(['paid@1']);
  const { db } = environment.context;
  const before = await sealNow(environment.context);
  await dropTriggers(db);
  await sql`UPDATE postings SET amount_cents = amount_cents * 2`.execute(db);
  await sql`DELETE FROM seals`.execute(db);
  await sql`DELETE FROM balance_spans`.execute(db);
  const after = await sealNow(environment.context);
  expect(await referenceChain(db)).toMatchObject({ wrong: [] });
  expect(after.hash.equals(before.hash)).toBe(false);
});

test('events, entries, postings and seals can be neither changed nor deleted', async () => {
  await learn(['paid@1']);
  await sealNow(environment.context);
  for (const table of ['events', 'entries', 'postings', 'seals']) {
    const columns = { events: 'status', entries: 'kind', postings: 'position', seals: 'entries' };
    const column = columns[table as keyof typeof columns];
    const change = sql.raw(`UPDATE ${table} SET ${column} = ${column}`).execute(environment.context.db);
    await expect(change).rejects.toThrow(`${table} is append-only`);
    const removal = sql.raw(`DELETE FROM ${table}`).execute(environment.context.db);
    await expect(removal).rejects.toThrow(`${table} is append-only`);
  }
});

test('a seal waits for a lower entry that is written but not committed, so that nothing appears below it later', async () => {
  const { db } = environment.context;
  await learn(['paid@1']);
  const slow = await db.startTransaction().execute();
  const lower = await addEntry(slow);
  const higher = await db.transaction().execute((trx) => addEntry(trx));
  expect(lower).toBeLessThan(higher);

  let taken = false;
  const sealed = sealNow(environment.context).then((one) => {
    taken = true;
    return one;
  });
  await waitForLockWaits(environment.context);
  expect(taken).toBe(false);
  await slow.commit().execute();
  expect((await sealed).entrySeq).toBe(higher);
  expect(await referenceChain(db)).toEqual({ wrong: [], sealed: await listEntries() });
});

test('an entry that comes late, below a sealed number, is sealed by a later position; the earlier one stays', async () => {
  const { context } = environment;
  await learn(['paid@1']);
  const low = await addEntry(context.db);
  await addEntry(context.db, low + 5);
  const first = await sealNow(context);
  await addEntry(context.db, low + 2);
  const second = await sealNow(context);
  expect(second).toMatchObject({ position: first.position + 1, entrySeq: low + 5 });
  expect(await readSeal(context.db, first.position)).toEqual(first);
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
  const late = await context.db.selectFrom('seal_stragglers').selectAll().execute();
  expect(late).toEqual([{ entry_seq: low + 2, position: second.position }]);
  expect(await findWrongBalances(10, 'day')).toEqual([]);
  expect(await sealNow(context)).toEqual(second);
});

test('the next sealer seals an entry that arrived late while none was running, however long ago', async () => {
  const { context } = environment;
  await learn(['paid@1']);
  const low = await addEntry(context.db);
  await addEntry(context.db, low + 5);
  await sealNow(context);
  await addEntry(context.db, low + 2);
  const later = new Date(context.clock.now().getTime() + 11 * 60_000);
  await sealNow({ ...context, clock: { ...context.clock, now: () => later } });
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
});

test('two of the largest amounts are sealed and folded', async () => {
  const { context } = environment;
  const rows = [1, 2].map((minute) =>
    makeShownTransaction([`paid@${minute}`], { amount: '10000000000000.00', platform: 'p' }),
  );
  await applyObservations(
    context,
    rows.map((row) => observeNow(context, row)),
  );
  await sealNow(context);
  expect(await findWrongBalances(7, 'month')).toEqual([]);
});

test('an entry is sealed by the name of its account, or not at all', async () => {
  const { context } = environment;
  await learn(['paid@1']);
  const low = await addEntry(context.db);
  await addEntry(context.db, low + 5);
  await dropTriggers(context.db);
  const arrives = async () => {
    const [account] = await context.db.insertInto('accounts').values({ name: 'Assets:Bank:new' }).execute();
    const seq = await addEntry(context.db, low + 2);
    await context.db
      .updateTable('postings')
      .set({ account_seq: Number(account?.insertId) })
      .where('entry_seq', '=', seq)
      .execute();
  };
  await sealNow(interruptAfterRow(context, (row) => Object.keys(row).sort().join() === 'name,seq', arrives));
  await sealNow(context);
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });

  const next = await addEntry(context.db);
  await sql`UPDATE postings SET account_seq = 4711 WHERE entry_seq = ${next}`.execute(context.db);
  await expect(sealNow(context)).rejects.toThrow(`en_${next} names account #4711`);
});

const MANY = 20_500;

/** More entries than are locked at once. @returns the highest number. */
async function addMany(db: Kysely<Database>, after: number, count = MANY): Promise<number> {
  await sql`INSERT INTO entries (seq, kind, platform, at_wall, recorded_at, source_kind)
    SELECT ${after} + seq, 'adjustment', 'p', '2026-03-11 10:00:00', NOW(3), 'show' FROM ${numbersTo(count)}`.execute(
    db,
  );
  return after + count;
}

test('a seal waits for a lower entry however many others were committed above it', async () => {
  const { context } = environment;
  await learn(['paid@1']);
  const slow = await context.db.startTransaction().execute();
  const lower = await addEntry(slow);
  const top = await addMany(context.db, lower);

  let taken = false;
  const sealed = sealNow(context).then((one) => {
    taken = true;
    return one;
  });
  await waitForLockWaits(environment.context);
  expect(taken).toBe(false);
  await slow.commit().execute();
  expect((await sealed).entrySeq).toBe(top);
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
  expect(await findWrongBalances(10, 'day')).toEqual([]);
});

test('an entry that comes late, far below, is sealed by the far search of the loop', async () => {
  const { context } = environment;
  await learn(['paid@1']);
  const low = await addEntry(context.db);
  await addMany(context.db, low + 5);
  await sealNow(context);
  await addEntry(context.db, low + 2);
  await addEntry(context.db, low + 4);
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  const late = await eventually(async () => {
    const rows = await context.db.selectFrom('seal_stragglers').select('entry_seq').orderBy('entry_seq').execute();
    return rows.length > 0 ? rows.map((row) => row.entry_seq) : undefined;
  });
  stop.abort();
  await loop;
  expect(late).toEqual([low + 2, low + 4]);
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
});

/** Runs the loop until nothing is left to seal; then `change`, and the loop until the condition holds. @returns the seconds. */
async function secondsUntil(change: () => Promise<unknown>, holds: () => Promise<boolean>): Promise<number> {
  const { context } = environment;
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  // the round after the last seal finds nothing to seal; the next ones only ask
  for (let second = 0; second < 5; second++) await advanceSecond();
  await change();
  let seconds = 0;
  await eventually(async () => {
    if (await holds()) return true;
    await advanceSecond();
    seconds++;
    return false;
  });
  stop.abort();
  await loop;
  return seconds;
}

test.each(['an entry', 'an event', 'a change of a mismatch', 'an audit row'])(
  'a loop with nothing else to seal seals %s within seconds',
  async (what) => {
    const { context } = environment;
    const { db } = context;
    await learn(['paid@1']);
    const write: Record<string, () => Promise<unknown>> = {
      'an entry': () => addEntry(db),
      'an event': () =>
        sql`INSERT INTO events (transaction_seq, status, at_wall, occurrence, position, sequence, inferred, seen_at, source_kind)
          SELECT transaction_seq, status, at_wall, 2, position + 1, sequence + 1, inferred, seen_at, source_kind FROM events
          ORDER BY seq DESC LIMIT 1`.execute(db),
      'a change of a mismatch': () =>
        transact(db, (trx) => raiseMismatches(trx, [{ kind: 'books_broken', scope: 'a test' }], context.clock.now())),
      'an audit row': () => audit(context, { actor: 'command', action: 'test', target: 'seals' }),
    };
    let before: Watermark | undefined;
    const change = async () => {
      before = await readWatermark(db);
      await write[what]?.();
    };
    const isSealed = async () => {
      const [head, top] = [await readNewestSeal(db), await readWatermark(db)];
      expect(top).not.toEqual(before);
      return head !== undefined && Object.entries(top).every(([name, seq]) => head[name as keyof Watermark] === seq);
    };
    expect(await secondsUntil(change, isSealed)).toBeLessThan(30);
  },
);

test('a loop with nothing else to seal finds within seconds an entry that comes late in a gap', async () => {
  const { db } = environment.context;
  await learn(['paid@1']);
  const low = await addEntry(db);
  await addEntry(db, low + 3);
  const isSealed = async () => {
    const rows = await db.selectFrom('seal_stragglers').select('entry_seq').execute();
    return rows.some((row) => row.entry_seq === low + 2);
  };
  expect(await secondsUntil(() => addEntry(db, low + 2), isSealed)).toBeLessThan(30);
  expect(await referenceChain(db)).toEqual({ wrong: [], sealed: await listEntries() });
});

test('a loop with nothing to seal for a quarter of an hour finds within two minutes an entry that comes late', async () => {
  const { context, timers } = environment;
  await learn(['paid@1']);
  const low = await addEntry(context.db);
  await addEntry(context.db, low + 3);
  const commitLate = async () => {
    await timers.advance(15 * 60_000);
    for (let second = 0; second < 3; second++) await advanceSecond();
    await addEntry(context.db, low + 2);
  };
  const isSealed = async () => (await referenceChain(context.db)).sealed.includes(low + 2);
  expect(await secondsUntil(commitLate, isSealed)).toBeLessThan(120);
  expect(await referenceChain(context.db)).toEqual({ wrong: [], sealed: await listEntries() });
});

test('a loop whose newest seal is gone, as where a database lost its last commits, continues from the one before', async () => {
  const { context } = environment;
  const { db } = context;
  await dropTriggers(db);
  await sealNow(context);
  await audit(context, { actor: 'command', action: 'test', target: 'seals' });
  const lost = await sealNow(context);
  const loseHead = () => db.deleteFrom('seals').where('position', '=', lost.position).execute();
  const isBack = async () => (await readNewestSeal(db))?.position === lost.position;
  expect(await secondsUntil(loseHead, isBack)).toBeLessThan(30);
  expect(await readNewestSeal(db)).toMatchObject({ position: lost.position, auditSeq: lost.auditSeq });
});

test('a long backlog takes several positions, and each entry stands in one of them', async () => {
  const { db } = environment.context;
  await learn(['paid@1']);
  const top = await addEntry(db);
  const count = 4_500;
  await addMany(db, top, count);
  const head = await sealNow(environment.context);
  expect(head).toMatchObject({ entrySeq: top + count, position: 3 });
  expect(await referenceChain(db)).toEqual({ wrong: [], sealed: await listEntries() });
});

test('while many write and many seal, there is one chain, and every entry stands in it once', async () => {
  const replicas = [environment.context, await environment.replica(), await environment.replica()];
  const timelines = fc.sample(anyTimeline, { numRuns: 40, seed: 7 });
  const observations = timelines.flatMap((timeline) =>
    timeline.history.map((_, index) => observeTimeline(timeline, index + 1)),
  );
  let writing = true;
  const writers = replicas.map(async (context, index) => {
    for (let start = index; start < observations.length; start += 3) {
      await applyObservations(context, observations.slice(start, start + 9));
    }
  });
  const sealers = replicas.map(async (context) => {
    while (writing) await sealNow(context);
  });
  await Promise.all(writers).finally(() => {
    writing = false;
  });
  await Promise.all(sealers);
  const head = await sealNow(environment.context);
  expect(head.position).toBeGreaterThan(1);
  expect(await referenceChain(environment.context.db)).toEqual({ wrong: [], sealed: await listEntries() });
  expect(await findWrongBalances(13, 'hour')).toEqual([]);
});

test('the loop seals by itself, and takes over from a sealer that died', async () => {
  const { context, timers } = environment;
  await learn(['paid@1']);
  const stop = new AbortController();
  const until = new Date(context.clock.now().getTime() + 14_000);
  await context.db.updateTable('sealing').set({ holder: 'gone', lease_until: until }).execute();
  const loop = sealLedger({ ...context, signal: stop.signal });
  const head = await eventually(async () => {
    await timers.advance(1_000);
    return await readNewestSeal(context.db);
  });
  expect(head.sealedAt.getTime()).toBeGreaterThanOrEqual(until.getTime());
  stop.abort();
  await loop;
});
