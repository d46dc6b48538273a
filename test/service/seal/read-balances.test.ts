import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inSnapshot } from '../../../src/database/in-snapshot.ts';
import type { Database } from '../../../src/database/tables.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { readAccountBalances } from '../../../src/reports/read/read-accounts.ts';
import { readCutEntries } from '../../../src/reports/read/read-cut-entries.ts';
import { type AsOf, readBalances } from '../../../src/seal/read-balances.ts';
import type { Seal } from '../../../src/seal/read-seals.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { anyTimeline, observeTimeline } from '../../support/make-observations.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { chooseSeed } from '../../support/property.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

type Balances = Record<string, bigint>;

async function ours(at: string, known: AsOf): Promise<Balances> {
  const { balances } = await readBalances(environment.context.db, at, known, environment.context.clock.now());
  return Object.fromEntries(balances.filter(({ cents }) => cents !== 0n).map(({ account, cents }) => [account, cents]));
}

/** The sum of every posting that fits, one by one. */
async function plainly(db: Kysely<Database>, at: string, fits: (entry: { seq: number; recordedAt: Date }) => boolean) {
  const { rows } = await sql<{ seq: number; recorded_at: Date; name: string; amount_cents: bigint }>`
    SELECT e.seq, e.recorded_at, a.name, p.amount_cents FROM postings p
    JOIN entries e ON e.seq = p.entry_seq JOIN accounts a ON a.seq = p.account_seq WHERE e.at_wall < ${at}`.execute(db);
  const sums: Balances = {};
  for (const row of rows) {
    if (!fits({ seq: row.seq, recordedAt: row.recorded_at })) continue;
    sums[row.name] = (sums[row.name] ?? 0n) + row.amount_cents;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, cents]) => cents !== 0n));
}

type EntryPosition = Pick<Seal, 'position' | 'entrySeq'>;
type ReportBalances = { account: string; before: bigint; end: bigint }[];

/** The balances with which a report from one instant to another begins and ends, at a cut. */
async function ofReport(start: string, end: string, { position, entrySeq }: EntryPosition): Promise<ReportBalances> {
  const balances = await inSnapshot(environment.context.db, async (snapshot) =>
    readAccountBalances(snapshot, { start, end, ...(await readCutEntries(snapshot, { position, entrySeq })) }),
  );
  return balances.map(({ account, before, end: after }) => ({ account, before, end: after }));
}

/** The same by the sum of every posting, with accounts that came to zero. */
async function ofReportPlainly(
  start: string,
  end: string,
  { entrySeq }: EntryPosition,
  late = 0,
): Promise<ReportBalances> {
  const { rows } = await sql<{ account: string; before: string; end: string }>`
    SELECT a.name AS account, SUM(IF(p.at_wall < ${start}, p.amount_cents, 0)) AS \`before\`, SUM(p.amount_cents) AS end
    FROM postings p JOIN accounts a ON a.seq = p.account_seq
    WHERE p.at_wall < ${end} AND p.entry_seq <= ${entrySeq} AND p.entry_seq <> ${late} GROUP BY a.name
    `.execute(environment.context.db);
  return rows
    .map((row) => ({ account: row.account, before: BigInt(row.before), end: BigInt(row.end) }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
}

const MOMENTS = [
  '2026-11-20 19:00:00',
  '2026-11-20 22:00:00',
  '2026-11-20 22:00:01',
  '2026-11-21 00:00:00',
  '2026-11-21 01:02:03',
  '2026-11-30 12:30:00',
  '2026-12-01 00:00:00',
  '2027-06-15 10:00:00',
];

test('at any instant, as known at any position, before any instant and now, it is the sum of the postings', async () => {
  const { context } = environment;
  const timelines = fc.sample(anyTimeline, { numRuns: 60, seed: chooseSeed(11) });
  const seals: Seal[] = [];
  const instants: Date[] = [new Date(0)];
  for (let start = 0; start < timelines.length; start += 6) {
    const observations = timelines
      .slice(start, start + 6)
      .map((timeline) => observeTimeline(timeline, timeline.history.length));
    await applyObservations(context, observations);
    if (start === 30)
      await openBooks(context, {
        platform: 'p',
        newPlatform: true,
        day: '2026-11-21',
        balanceCents: 7n,
        actor: 'command',
      });
    // of the last ones, some stay unsealed
    if (start < 48) seals.push(await sealNow(context));
    await environment.timers.advance(3);
    instants.push(context.clock.now());
    await environment.timers.advance(3);
  }
  const newest = await context.db.selectFrom('entries').select('seq').orderBy('seq', 'desc').executeTakeFirstOrThrow();
  // the last one holds entries that are in no sum yet
  const cuts: EntryPosition[] = [...seals, { position: seals.length, entrySeq: newest.seq }];
  for (const [index, at] of MOMENTS.entries()) {
    const end = MOMENTS[index + 1] ?? '2028-01-01 00:00:00';
    for (const cut of cuts)
      expect(await ofReport(at, end, cut), `report of ${at} at ${cut.entrySeq}`).toEqual(
        await ofReportPlainly(at, end, cut),
      );
    expect(await ours(at, 'now'), at).toEqual(await plainly(context.db, at, () => true));
    for (const seal of seals) {
      const known = await plainly(context.db, at, ({ seq }) => seq <= seal.entrySeq);
      expect(await ours(at, { position: seal.position }), `${at} ${seal.position}`).toEqual(known);
    }
    for (const before of instants) {
      const known = await plainly(context.db, at, ({ recordedAt }) => recordedAt < before);
      expect(await ours(at, { before }), `${at} ${before.toISOString()}`).toEqual(known);
    }
  }
});

test('an old balance is read by its position alone, in the shorter direction', async () => {
  const { context } = environment;
  const timelines = fc.sample(anyTimeline, { numRuns: 40, seed: 3 });
  const halves = [timelines.slice(0, 10), timelines.slice(10)].map((some) =>
    some.map((timeline) => observeTimeline(timeline, timeline.history.length)),
  );
  await applyObservations(context, halves[0] ?? []);
  const first = await sealNow(context);
  await applyObservations(context, halves[1] ?? []);
  const second = await sealNow(context);
  // as if it had been sealed and recorded an hour apart each
  await sql`DROP TRIGGER entries_no_update`.execute(context.db);
  await sql`DROP TRIGGER seals_no_update`.execute(context.db);
  const hoursAgo = (hours: number): Date => new Date(context.clock.now().getTime() - hours * 3_600_000);
  for (const [seal, hours] of [
    [first, 3],
    [second, 2],
  ] as const) {
    await sql`UPDATE seals SET sealed_at = ${hoursAgo(hours)} WHERE position = ${seal.position}`.execute(context.db);
  }
  await sql`UPDATE entries SET recorded_at = IF(seq <= ${first.entrySeq}, ${hoursAgo(3)}, ${hoursAgo(2)})`.execute(
    context.db,
  );
  const at = '2027-06-15 10:00:00';
  for (const hours of [4, 2.5, 1]) {
    const known = await plainly(context.db, at, ({ recordedAt }) => recordedAt < hoursAgo(hours));
    expect(await ours(at, { before: hoursAgo(hours) }), `${hours} h ago`).toEqual(known);
  }
});

test('a backlog that was sealed long after it was recorded is known from when it was recorded', async () => {
  const { context } = environment;
  const rows = Array.from({ length: 2_300 }, () => makeShownTransaction(['paid@1'], { platform: 'p' }));
  await applyObservations(
    context,
    rows.map((row) => observeNow(context, row)),
  );
  await sql`DROP TRIGGER entries_no_update`.execute(context.db);
  const hoursAgo = (hours: number): Date => new Date(context.clock.now().getTime() - hours * 3_600_000);
  await sql`UPDATE entries SET recorded_at = ${hoursAgo(3)}`.execute(context.db);
  await sql`UPDATE entries SET recorded_at = ${hoursAgo(1)} ORDER BY seq DESC LIMIT 20`.execute(context.db);
  // more than one position holds
  expect((await sealNow(context)).position).toBe(2);
  const at = '2027-06-15 10:00:00';
  for (const hours of [4, 2, 0.5]) {
    const before = hoursAgo(hours);
    const known = await plainly(context.db, at, ({ recordedAt }) => recordedAt < before);
    expect(await ours(at, { before }), `${hours} h ago`).toEqual(known);
  }
});

test('an entry that came late, below a sealed number, is known from the position on that sealed it', async () => {
  const { context } = environment;
  const timeline = fc.sample(anyTimeline, { numRuns: 1, seed: 5 })[0];
  await applyObservations(context, timeline ? [observeTimeline(timeline, timeline.history.length)] : []);
  await context.db
    .insertInto('accounts')
    .values([{ name: 'Assets:Bank:p' }, { name: 'Expenses:Fees:p' }])
    .execute();
  const accounts = await context.db
    .selectFrom('accounts')
    .select('seq')
    .where('name', 'in', ['Assets:Bank:p', 'Expenses:Fees:p'])
    .execute();
  const add = async (seq: number, cents: bigint) => {
    const at_wall = '2026-03-11 10:00:00';
    await context.db
      .insertInto('entries')
      .values({
        seq,
        kind: 'adjustment',
        platform: 'p',
        at_wall,
        recorded_at: context.clock.now(),
        source_kind: 'show',
      })
      .execute();
    await context.db
      .insertInto('postings')
      .values(
        accounts.map((account, position) => ({
          entry_seq: seq,
          position,
          account_seq: account.seq,
          at_wall,
          amount_cents: position === 0 ? cents : -cents,
        })),
      )
      .execute();
  };
  await add(1_000, 5n);
  const first = await sealNow(context);
  await add(990, 70n);
  const at = '2027-01-01 00:00:00';
  const days = [
    ['2026-03-11 00:00:00', '2026-03-12 00:00:00'],
    ['2026-03-12 00:00:00', '2026-03-13 00:00:00'],
  ] as const;
  const report = async (seal: Seal) => await Promise.all(days.map(([start, end]) => ofReport(start, end, seal)));
  const plain = async (seal: Seal, late: number) =>
    await Promise.all(days.map(([start, end]) => ofReportPlainly(start, end, seal, late)));
  const withoutLate = await plain(first, 990);
  expect(await report(first)).toEqual(withoutLate);
  const bank = async (known: AsOf) => (await ours(at, known))['Assets:Bank:p'];
  const unsealed = [await bank('now'), await bank({ position: first.position })];
  const second = await sealNow(context);
  expect(await report(first)).toEqual(withoutLate);
  expect(await report(second)).toEqual(await plain(second, 0));
  const sealed = [
    await bank('now'),
    await bank({ position: first.position }),
    await bank({ position: second.position }),
  ];
  expect([unsealed, sealed]).toEqual([
    [75n, 5n],
    [75n, 5n, 75n],
  ]);
});

test('a position that there is none of is refused', async () => {
  await sealNow(environment.context);
  await expect(ours('2027-01-01 00:00:00', { position: 2 })).rejects.toMatchObject({ code: 'invalid_request' });
});
