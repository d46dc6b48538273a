import { type Kysely, type KyselyPlugin, type SqlBool, sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../../src/database/reader.ts';
import type { Database } from '../../../src/database/tables.ts';
import { WINDOW_EVENTS } from '../../../src/reports/plan/read-event-window.ts';
import { readAccountBalances, readOpened, sumMoved } from '../../../src/reports/read/read-accounts.ts';
import { readDayEnds } from '../../../src/reports/read/read-day-ends.ts';
import { countMismatches, readMismatches, sumMismatches } from '../../../src/reports/read/read-mismatches.ts';
import { readLateCommissions } from '../../../src/reports/read/read-movements.ts';
import { readStatements } from '../../../src/reports/read/read-statements.ts';
import { sumPayments } from '../../../src/reports/readback/sum-payments.ts';
import { readLearnt } from '../../../src/reports/revisions/read-learnt.ts';
import { findLateEntries } from '../../../src/seal/find-late-entries.ts';
import { type AsOf, readBalances } from '../../../src/seal/read-balances.ts';
import { readNewestSeal } from '../../../src/seal/read-seals.ts';
import { readSpanSums } from '../../../src/seal/read-span-sums.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReads } from '../../support/count-reads.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';

/** Twenty an hour, two postings each, for sixty-two days and a half. */
const ENTRIES = 30_000;
const AN_HOUR = 20;
const ROOTS = [
  ...['Assets:Provider:Available', 'Liabilities:Receipts', 'Assets:Provider:Held', 'Liabilities:Payables'],
  ...['Expenses:Commission', 'Equity:Opening', 'Income:Adjustments', 'Expenses:Adjustments'],
];
const ACCOUNTS = ROOTS.length;
const PER_SEAL = 100;
const SEALS = ENTRIES / PER_SEAL;
const AT = '2026-02-13 17:59:59';

const environment = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  await load();
});

test('a balance reads the sums before its hour and the postings of its hour, each off its index, and nothing else', async () => {
  const steps = await analyze('now');
  expect(new Set(steps.map((step) => `${step.table} ${step.key}`))).toEqual(
    new Set([
      'accounts accounts_name',
      'seals PRIMARY',
      'seals seals_sealed_at',
      'balance_spans PRIMARY',
      'postings postings_account',
      'postings PRIMARY',
    ]),
  );
  const read = (table: string) =>
    steps.filter((step) => step.table === table).reduce((sum, step) => sum + Number(step.r_rows), 0);
  expect(read('postings')).toBeLessThanOrEqual(2 * AN_HOUR);
  // a month, twelve days, seventeen hours
  expect(read('balance_spans')).toBeLessThanOrEqual((1 + 12 + 17) * ACCOUNTS);
  // those of the ten minutes before the newest
  expect(read('seals')).toBeLessThan(30);
});

test('a series by day or hour reads one row for each account of a span, and no posting but the unsealed ones', async () => {
  const groups = { one: [1, 2, 3], other: [4, 5] };
  for (const { range, spans } of [
    { range: { grain: 'day', from: '2026-01-10 00:00:00', to: '2026-02-09 00:00:00' }, spans: 30 },
    { range: { grain: 'hour', from: '2026-02-10 00:00:00', to: '2026-02-11 00:00:00' }, spans: 24 },
  ] as const) {
    const steps = await analyzeAll((db) => readSpanSums(db, groups, range));
    expect(new Set(steps.map((step) => `${step.table} ${step.key}`))).toEqual(
      new Set(['seals PRIMARY', 'seals seals_sealed_at', 'balance_spans PRIMARY', 'postings PRIMARY']),
    );
    const read = (table: string) =>
      steps.filter((step) => step.table === table).reduce((sum, step) => sum + Number(step.r_rows), 0);
    expect(read('postings')).toBeLessThanOrEqual(2);
    // its own spans, and those before it: a month and 9 days
    expect(read('balance_spans')).toBeLessThanOrEqual((spans + 1 + 9) * ACCOUNTS);
    const sums = await readSpanSums(environment.context.db, groups, range);
    expect(sums.spans.size).toBe(spans);
  }
});

test('a late entry is searched among its neighbours, not among all entries sealed with them', async () => {
  const { db } = environment.context;
  await dropTriggers(db);
  const gone = ENTRIES - 2 * PER_SEAL - 7;
  const [from, to] = [gone - (gone % PER_SEAL) + 1, gone - (gone % PER_SEAL) + PER_SEAL];
  // a number that a rolled-back transaction took: in no seal, and no entry
  await sql`UPDATE seals SET entries = entries - 1, members = ${`${from}-${gone - 1},${gone + 1}-${to}`}
    WHERE entry_seq = ${to}`.execute(db);
  const row = await sql`SELECT * FROM entries WHERE seq = ${gone}`.execute(db);
  await sql`DELETE FROM entries WHERE seq = ${gone}`.execute(db);
  const counted = (await analyze('now')).filter((step) => step.table === 'entries');
  expect(counted.map((step) => [step.key, Number(step.r_rows)])).toEqual([['PRIMARY', PER_SEAL - 1]]);
  const head = await readNewestSeal(db);
  const late = async () => (head ? await findLateEntries(db, head) : undefined);
  expect(await late()).toEqual([]);
  // it comes late, from another node
  await db
    .insertInto('entries')
    .values(row.rows as never)
    .execute();
  expect(await late()).toEqual([gone]);
});

test('what a report of a day adds up reads the postings of its day alone', async () => {
  const scope = {
    ...{ start: '2026-01-20 00:00:00', end: '2026-01-21 00:00:00', platform: undefined },
    ...{ entrySeq: ENTRIES, lateEntries: [] },
  };
  const { context } = environment;
  const stated = { id: 'st_1', platform: 'p', at: new Date(), at_wall: '2026-01-20 12:00:00', balance_cents: 1n };
  await context.db
    .insertInto('statements')
    .values({ ...stated, created_at: new Date(0), actor: 'test' })
    .execute();
  const balances = ROOTS.map((root) => ({ account: `${root}:p`, before: 0n, opened: 0n, end: 0n }));
  const isShown = sql<SqlBool>`entries.at_wall >= ${scope.start} AND entries.at_wall < ${scope.end}`;
  for (const read of [
    (db: Kysely<Database>) => readLateCommissions(db, scope),
    (db: Kysely<Database>) => readOpened(db, scope),
    (db: Kysely<Database>) => readAccountBalances(db, scope),
    (db: Kysely<Database>) => readStatements(db, { ...scope, madeAt: new Date() }),
    (db: Kysely<Database>) => readDayEnds(db, { ...scope, balances, days: ['2026-01-20'] }),
    (db: Kysely<Database>) => sumPayments(db, scope),
    (db: Kysely<Database>) => sumMoved(db, isShown),
  ])
    expect([read.toString(), await countReads(environment.context.db, read)]).toEqual([
      ...[read.toString(), expect.toSatisfy((rows: number) => rows < ENTRIES / 4)],
    ]);
});

test('what a tick of daily_report learns of each day is read above the cursor of the one before', async () => {
  const { db } = environment.context;
  const cursor = { entrySeq: ENTRIES, eventSeq: 0, factChangeSeq: 0, at: new Date() };
  const learnt = await readLearnt(db, cursor);
  // as many numbers below it as an event window has, for rows that are committed late
  const newest = Math.ceil(WINDOW_EVENTS / (24 * AN_HOUR));
  expect(learnt.length).toBeLessThanOrEqual(newest + 1);
  expect(learnt.at(-1)).toEqual({ day: '2026-03-04', entrySeq: ENTRIES, eventSeq: 0, factChangeSeq: 0 });
  // each row, and its day in a temporary table
  expect(await countReads(environment.context.db, (reader) => readLearnt(reader, cursor))).toBeLessThan(
    2 * WINDOW_EVENTS + 200,
  );
});

test('the mismatches of a report are those of its day and open ones, not all that there ever were', async () => {
  const { db } = environment.context;
  const run = (text: string) => sql.raw(text).execute(db);
  // one a minute from 1 January on: all are resolved but the last two
  const count = 5_000;
  const [opened, state] = [`'2026-01-01' + INTERVAL seq MINUTE`, `IF(seq > ${count - 2}, 'open', 'resolved')`];
  await run(`INSERT INTO mismatches (seq, id, kind, scope, severity, state, opened_at)
    SELECT seq, CONCAT('mm_', seq), 'stuck', seq, 'medium', ${state}, ${opened} FROM seq_1_to_${count}`);
  await run(`INSERT INTO mismatch_changes (seq, mismatch_seq, state, at, actor, opened_at)
    SELECT seq, seq, 'open', ${opened}, 'test', ${opened} FROM seq_1_to_${count}`);
  await run(`INSERT INTO mismatch_changes (seq, mismatch_seq, state, at, actor, opened_at)
    SELECT ${count} + seq, seq, 'resolved', ${opened}, 'test', ${opened} FROM seq_1_to_${count - 2}`);
  for (const table of ['mismatches', 'mismatch_changes']) await run(`ANALYZE TABLE ${table}`);
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1) + minute * 60_000);
  const day = { from: at(1_000), to: at(1_100), eventSeq: 0, versionSeq: undefined, platform: undefined };
  const now = { ...day, changeSeq: 2 * count };
  expect((await readMismatches(db, now)).map(({ id }) => id)).toEqual([
    ...Array.from({ length: 100 }, (_, index) => `mm_${1_000 + index}`),
    ...[`mm_${count - 1}`, `mm_${count}`],
  ]);
  const days = { from: '2026-01-01', to: '2026-01-01' };
  const countOfDay = (reader: Reader, scope: typeof now) => countMismatches(reader, scope, days);
  expect(await countOfDay(db, now)).toEqual([
    { kind: 'stuck', severity: 'medium', count: 2, own: 0, stakeCents: 0n, ownStakeCents: 0n },
  ]);
  for (const read of [countOfDay, readMismatches, sumMismatches])
    expect([read.name, await countReads(environment.context.db, (reader) => read(reader, now))]).toEqual([
      ...[read.name, expect.toSatisfy((rows: number) => rows < 1_500)],
    ]);
  // as they stood before the last ten were resolved
  const earlier = { ...day, from: at(0), to: at(0), changeSeq: 2 * count - 12 };
  expect((await readMismatches(db, earlier)).map(({ state: was }) => was)).toEqual(Array(12).fill('open'));
});

type Step = { table: string; key: string | null; r_rows: string };

/** The plan that the server used for each statement of a reading. */
async function analyze(known: AsOf): Promise<Step[]> {
  return await analyzeAll((db) => readBalances(db, AT, known, environment.context.clock.now()));
}

async function analyzeAll(read: (db: Kysely<Database>) => Promise<unknown>): Promise<Step[]> {
  const { db } = environment.context;
  const statements: { sql: string; parameters: readonly unknown[] }[] = [];
  const executor = db.getExecutor();
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      statements.push(executor.compileQuery(node, queryId));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await read(db.withPlugin(plugin));
  const steps: Step[] = [];
  for (const one of statements.filter(({ sql: text }) => /^select/i.test(text))) {
    const compiled = { ...sql`SELECT 1`.compile(db), ...one, sql: `ANALYZE ${one.sql}` };
    steps.push(...(await db.executeQuery<Step>(compiled)).rows);
  }
  return steps;
}

/** As the program would have left them. */
async function load(): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(environment.context.db);
  await run(`INSERT INTO accounts (seq, name) SELECT seq, CONCAT(ELT(seq, ${ROOTS.map((root) => `'${root}'`).join(', ')}), ':p')
    FROM seq_1_to_${ROOTS.length}`);
  await run(`INSERT INTO entries (seq, kind, platform, at_wall, recorded_at, source_kind)
    SELECT seq, 'event', 'p', DATE_FORMAT('2026-01-01' + INTERVAL seq * ${3600 / AN_HOUR} SECOND, '%Y-%m-%d %H:%i:%s'),
      UTC_TIMESTAMP(3) - INTERVAL (${ENTRIES} - seq) SECOND, 'list' FROM seq_1_to_${ENTRIES}`);
  await run(`INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
    SELECT e.seq, p.seq - 1, 1 + (e.seq % ${ACCOUNTS / 2}) * 2 + (p.seq - 1), e.at_wall, p.seq - 1
    FROM entries e JOIN seq_1_to_2 p`);
  for (const [grain, chars] of Object.entries({ month: 7, day: 10, hour: 13 })) {
    await run(`INSERT INTO balance_spans SELECT '${grain}', LEFT(at_wall, ${chars}) AS span, account_seq,
      SUM(amount_cents) FROM postings GROUP BY span, account_seq`);
  }
  await run(`INSERT INTO seals (position, entry_seq, event_seq, mismatch_change_seq, audit_seq, members, entries,
    stragglers, previous_hash, hash, sealed_at) SELECT seq, seq * ${PER_SEAL}, 0, 0, 0,
    CONCAT((seq - 1) * ${PER_SEAL} + 1, '-', seq * ${PER_SEAL}), ${PER_SEAL}, 0, REPEAT('x', 32), REPEAT('x', 32),
    UTC_TIMESTAMP(3) - INTERVAL (${SEALS} - seq) MINUTE FROM seq_1_to_${SEALS}`);
  for (const table of ['entries', 'postings', 'balance_spans', 'seals']) await run(`ANALYZE TABLE ${table}`);
}
