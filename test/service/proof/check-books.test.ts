import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { finishReposts } from '../../../src/ledger/stated/open-books.ts';
import { type BooksCheck, checkBooks } from '../../../src/proof/check-books.ts';
import { collectBreaks } from '../../../src/proof/collect-breaks.ts';
import { verifyBalances } from '../../../src/proof/verify-balances.ts';
import { verifyChain } from '../../../src/proof/verify-chain.ts';
import { readSealMetrics } from '../../../src/proof/verify-sealed.ts';
import { verifyStated } from '../../../src/proof/verify-stated.ts';
import { writeManifest } from '../../../src/proof/write-manifest.ts';
import { readSeal, type Seal } from '../../../src/seal/read-seals.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { openBooks, reverseOpening } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import {
  backUpRows,
  dropTriggers,
  interruptAfterRow,
  makeShownTransaction,
  observeNow,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;

/** A database of its own for each test. */
function useOwnBooks(): void {
  beforeEach(async () => {
    environment = await openEnvironment();
  });
  afterEach(() => environment[Symbol.asyncDispose]());
}

/** One database, whose books each test finds as they were kept; its triggers are dropped. */
function useKeptBooks(): void {
  let restore: () => Promise<void>;
  beforeAll(async () => {
    environment = await openEnvironment();
    await keepBooks();
    await dropTriggers(environment.context.db);
    restore = await backUpRows(environment.context.db);
  });
  afterEach(() => restore());
  afterAll(() => environment[Symbol.asyncDispose]());
}

const DAY = '2026-11-01';

async function learn(...histories: string[][]): Promise<string[]> {
  const rows = histories.map((history) =>
    makeShownTransaction(history, { operation: 'cashout', platform: 'p', commission: '0.10', amount: '10.00' }),
  );
  await applyObservations(
    environment.context,
    rows.map((row) => observeNow(environment.context, row)),
  );
  return rows.map((row) => row.id);
}

/** Two transactions, an opening that stands and one taken back, an adjustment and one taken back; sealed in three. */
async function keepBooks(): Promise<void> {
  const { context } = environment;
  await learn(['pending@1', 'paid@2', 'refund@3']);
  await sealNow(context);
  const wrong = await openBooks(context, { platform: 'p', day: DAY, balanceCents: 5n, actor: 'command' });
  await reverseOpening(context, wrong);
  await openBooks(context, { platform: 'p', day: DAY, balanceCents: 70_000n, actor: 'command' });
  await sealNow(context);
  const adjustment = { platform: 'p', day: DAY, kind: 'fee', amountCents: -300n, note: 'n', actor: 'a' } as const;
  const id = await adjustBooks(context, adjustment);
  await reverseAdjustment(context, id, { note: 'wrong', actor: 'a' });
  await adjustBooks(context, { ...adjustment, amountCents: -400n });
  await learn(['pending@4']);
  await sealNow(context);
}

const saysOf = ({ breaks }: BooksCheck) => breaks.map((one) => `${one.scope}: ${one.says}`).join('\n');

// a table of its own: MySQL takes none that the statement changes
const PAID = "(SELECT * FROM (SELECT seq FROM events WHERE status = 'paid' LIMIT 1) AS first)";
const FIRST = '(SELECT * FROM (SELECT MIN(seq) FROM entries) AS first)';
const REVERSAL = '(SELECT * FROM (SELECT MIN(seq) FROM entries WHERE reverses_seq IS NOT NULL) AS first)';

/** As the serving user may: entry, postings, and then the sealer takes them for ours. */
async function insertReversal(of: number): Promise<number> {
  const { db } = environment.context;
  const entry = await db.selectFrom('entries').selectAll().where('seq', '=', of).executeTakeFirstOrThrow();
  const { seq: _, ...copied } = { ...entry, kind: 'reversal', reverses_seq: of, recorded_at: new Date() };
  const { insertId } = await db.insertInto('entries').values(copied).executeTakeFirstOrThrow();
  await sql`INSERT INTO postings SELECT ${Number(insertId)}, position, account_seq, at_wall, -amount_cents
    FROM postings WHERE entry_seq = ${of}`.execute(db);
  await sealNow(environment.context);
  return Number(insertId);
}

describe('books that the program kept, changed by hand', () => {
  useKeptBooks();

  test.each([
    [
      'a cent',
      `UPDATE postings SET amount_cents = amount_cents + 1 WHERE entry_seq = ${FIRST} AND position = 0`,
      [/sum to zero/, /seal 1: its hash/, /balance 2026-11/, /in force/],
    ],
    [
      'both sides of an entry',
      `UPDATE postings SET amount_cents = amount_cents * 2 WHERE entry_seq = ${FIRST}`,
      [/seal 1: its hash/, /balance 2026-11-20 23/, /in force/],
    ],
    [
      'a posting that is gone',
      `DELETE FROM postings WHERE entry_seq = ${FIRST} AND position = 0`,
      [/sum to zero/, /seal 1: its hash/],
    ],
    [
      'all postings of an entry',
      `DELETE FROM postings WHERE entry_seq = ${FIRST}`,
      [/are not there/, /seal 1: its hash/, /in force/],
    ],
    [
      'a posting of another day',
      `UPDATE postings SET at_wall = '2026-01-01 00:00:00' WHERE entry_seq = ${FIRST} AND position = 0`,
      [/of another time/, /balance 2026-01/],
    ],
    [
      'an entry that is gone',
      `DELETE FROM entries WHERE seq = ${FIRST}`,
      [/and no entry/, /sealed at position 1, and gone/, /in force/],
    ],
    [
      'an entry of another day',
      `UPDATE entries SET at_wall = '2026-01-01 00:00:00' WHERE seq = ${FIRST}`,
      [/seal 1: its hash/, /in force/],
    ],
    [
      'when an entry was known',
      `UPDATE entries SET recorded_at = '2026-01-01' WHERE seq = ${FIRST}`,
      [/seal 1: its hash/],
    ],
    [
      'an event that is gone',
      "DELETE FROM events WHERE status = 'paid'",
      [/its transaction or its event is not there/, /event_count/, /in force/],
    ],
    [
      'an event of another status',
      `UPDATE events SET status = 'denied' WHERE seq = ${PAID}`,
      [/seal 1: its hash/, /in force/],
    ],
    [
      'an event of nobody',
      'UPDATE events SET transaction_seq = 4711 ORDER BY seq DESC LIMIT 1',
      [/its transaction is not there/, /it has no event/],
    ],
    [
      'the status of a transaction',
      "UPDATE transactions SET status = 'paid' ORDER BY seq LIMIT 1",
      [/its status are not those/],
    ],
    [
      'the time of a status',
      "UPDATE transactions SET status_wall = '2026-01-01 00:00:00' LIMIT 1",
      [/its status_wall/],
    ],
    ['the number of a status', 'UPDATE transactions SET sequence = 9 LIMIT 1', [/its sequence/]],
    ['how many events there are', 'UPDATE transactions SET event_count = 9 LIMIT 1', [/its event_count/]],
    ['the numbers of events', `UPDATE events SET sequence = 17 WHERE seq = ${PAID}`, [/numbered one by one/]],
    [
      'the amount of a transaction',
      'UPDATE transactions SET amount_cents = amount_cents + 1 ORDER BY seq LIMIT 1',
      [/in force/],
    ],
    [
      'a reversal of half',
      `UPDATE postings SET amount_cents = amount_cents / 2 WHERE entry_seq = ${REVERSAL}`,
      [/does not negate/, /its hash/],
    ],
    [
      'a reversal of another entry',
      `UPDATE entries SET reverses_seq = ${FIRST} + 1 WHERE kind = 'reversal' ORDER BY seq DESC LIMIT 1`,
      [/no reversal of an entry/],
    ],
    [
      'a reversal of nothing',
      `UPDATE entries SET reverses_seq = NULL WHERE kind = 'reversal' ORDER BY seq DESC LIMIT 1`,
      [/no reversal of an entry/],
    ],
    [
      'an opening of another amount',
      'UPDATE openings SET balance_cents = 1 WHERE in_force = 1',
      [/op_\w+: its entry en_\d+ is not what was stated/],
    ],
    [
      'an opening that nobody booked by',
      `UPDATE openings SET day = '2026-11-21' WHERE in_force = 1`,
      [/in force are not those/],
    ],
    [
      'an adjustment of another amount',
      'UPDATE adjustments SET amount_cents = 1 ORDER BY seq DESC LIMIT 1',
      [/adj_\w+: its entry/],
    ],
    [
      'an adjustment that is gone',
      'DELETE FROM adjustments ORDER BY seq DESC LIMIT 1',
      [/no transaction, opening or adjustment asks for it/],
    ],
    [
      'an account of another name',
      "UPDATE accounts SET name = 'Assets:Elsewhere:p' WHERE name = 'Assets:Provider:Available:p'",
      [/its hash/, /in force/],
    ],
    [
      'an account that is gone',
      "DELETE FROM accounts WHERE name = 'Assets:Provider:Available:p'",
      [/names an account that is not there/],
    ],
    [
      'a balance',
      'UPDATE balance_spans SET amount_cents = amount_cents + 1 LIMIT 1',
      [/cents are folded, and the postings sum to/],
    ],
    ['balances that are gone', 'DELETE FROM balance_spans', [/balance 2026-11 .*0 cents are folded/]],
    [
      'the hash of a position',
      'UPDATE seals SET hash = UNHEX(REPEAT("ab", 32)) WHERE position = 2',
      [/seal 2: its hash/, /seal 3: it does not follow/],
    ],
    [
      'what a position names',
      "UPDATE seals SET members = '1-99999999' WHERE position = 2",
      [/seal 2: it names more than/],
    ],
    [
      'when a position was sealed',
      "UPDATE seals SET sealed_at = '2026-01-01' WHERE position = 2",
      [/seal 2: its hash/],
    ],
    ['a position that is gone', 'DELETE FROM seals WHERE position = 2', [/seal 3: the positions after 1 are missing/]],
  ] as const)('damage done by hand is found and located: %s', async (_, damage, reported) => {
    await sql.raw(damage).execute(environment.context.db);
    const check = await checkBooks(environment.context);
    for (const says of reported) expect(saysOf(check)).toMatch(says);
    const raised = await environment.context.db.selectFrom('mismatches').select(['scope', 'severity']).execute();
    expect(raised.map((one) => one.scope).sort()).toEqual([...new Set(check.breaks.map((one) => one.scope))].sort());
    expect(new Set(raised.map((one) => one.severity))).toEqual(new Set(['critical']));
    await checkBooks(environment.context);
    expect(await readMismatchRows(environment.context, 'books_broken')).toHaveLength(raised.length);
  });

  test.each(['openings', 'adjustments'] as const)('a reversal that nobody asked for is found, of %s', async (table) => {
    const { db } = environment.context;
    const row = await db.selectFrom(table).select(['id', 'entry_seq']).orderBy('seq', 'desc').executeTakeFirstOrThrow();
    const seq = await insertReversal(row.entry_seq);
    const said = saysOf(await checkBooks(environment.context));
    expect(said).toContain(`entry en_${seq}: no transaction, opening or adjustment asks for it`);
    expect(said).toContain(`${row.id}: its entry en_${row.entry_seq} is reversed, and it was not taken back`);
  });

  test('what was taken back and whose entry still stands is found', async () => {
    const { db } = environment.context;
    const back = (await db.selectFrom('openings').selectAll().where('in_force', 'is', null).execute())[0];
    const turned = await db
      .selectFrom('adjustments as reversal')
      .innerJoin('adjustments', 'adjustments.seq', 'reversal.reverses_seq')
      .select(['adjustments.id', 'adjustments.entry_seq'])
      .executeTakeFirstOrThrow();
    await db
      .deleteFrom('entries')
      .where('reverses_seq', 'in', [back?.entry_seq ?? 0, turned.entry_seq])
      .execute();
    const said = saysOf(await checkBooks(environment.context));
    for (const row of [back, turned]) {
      expect(said).toContain(
        `${row?.id}: it was taken back, and its entry en_${row?.entry_seq} is not reversed by that`,
      );
    }
  });

  test.each([
    ['of an entry that came in time', 'INSERT INTO seal_stragglers VALUES (1, 3)', /seal 3: .* en_1/],
    ['of a position to come', 'INSERT INTO seal_stragglers VALUES (1, 1000000000)', /seal 1000000000: .* en_1/],
    ['of no entry', 'INSERT INTO seal_stragglers VALUES (4711, 2)', /seal 2: .* en_4711/],
    ['how many there are', 'UPDATE seals SET stragglers = 1 WHERE position = 2', /seal 2: it counts .* 1 late/],
    ['how many members there are', 'UPDATE seals SET entries = entries + 1 WHERE position = 2', /seal 2: it counts/],
  ])('recorded late entries are compared with the members: %s', async (_, damage, reported) => {
    await sql.raw(damage).execute(environment.context.db);
    expect(saysOf(await checkBooks(environment.context))).toMatch(reported);
  });
});

describe('books of its own', () => {
  useOwnBooks();

  test('books that were kept by the program prove themselves, sealed or not yet', async () => {
    await keepBooks();
    await learn(['paid@9']);
    const { entries } = await checkBooks(environment.context);
    expect(await checkBooks(environment.context)).toEqual({
      position: 3,
      entries,
      transactions: 3,
      broken: 0,
      breaks: [],
    });
    expect(entries).toBeGreaterThan(10);
    expect(await readMismatchRows(environment.context, 'books_broken')).toEqual([]);
  });

  test.each([
    ['the chain', verifyChain],
    ['the balances', verifyBalances],
    ['what was stated', verifyStated],
  ])('a platform that is met while they are read is no break: %s', async (_, verify) => {
    const { context } = environment;
    await keepBooks();
    const meets = async () => {
      const opening = { platform: 'brand-new', day: DAY, balanceCents: 5n, actor: 'command', newPlatform: true };
      await openBooks(context, opening);
      await sealNow(context);
    };
    const { report, breaks } = collectBreaks();
    await verify(
      interruptAfterRow(context, () => true, meets),
      report,
    );
    expect(breaks).toEqual([]);
  });

  test('a platform that is being reposted is not verified until it is done', async () => {
    const { context } = environment;
    await learn(['paid@1']);
    const opening = { platform: 'p', day: '2026-11-21', balanceCents: 7n, actor: 'command' };
    const killed = openBooks({ ...context, signal: AbortSignal.abort() }, opening);
    await expect(killed).rejects.toThrow();
    expect(await checkBooks(context)).toMatchObject({ broken: 0, transactions: 1 });
    await finishReposts(context);
    expect(await checkBooks(context)).toMatchObject({ broken: 0, transactions: 1 });
    await dropTriggers(context.db);
    await sql`UPDATE postings SET amount_cents = amount_cents * 2`.execute(context.db);
    expect(saysOf(await checkBooks(context))).toMatch(/is not what was stated/);
  });

  test('what was broken for a moment is not raised, and what stays so is', async () => {
    const { context } = environment;
    await keepBooks();
    await sql`UPDATE balance_spans SET amount_cents = amount_cents + 1 WHERE grain = 'month' LIMIT 1`.execute(
      context.db,
    );
    const repost = () =>
      sql`UPDATE balance_spans SET amount_cents = amount_cents - 1 WHERE grain = 'month' LIMIT 1`.execute(context.db);
    // histories are the last that is read
    const check = await checkBooks(interruptAfterRow(context, (row) => 'event_count' in row, repost));
    expect(check).toMatchObject({ broken: 0, breaks: [] });
    expect(await readMismatchRows(context, 'books_broken')).toEqual([]);
  });

  test('an entry that is slipped in below a sealed number long after is in no position', async () => {
    const { db } = environment.context;
    await keepBooks();
    await dropTriggers(db);
    await sql`UPDATE seals SET sealed_at = sealed_at - INTERVAL 1 DAY`.execute(db);
    const row = { kind: 'adjustment', platform: 'p', at_wall: `${DAY} 00:00:00`, source_kind: 'show' };
    const slipIn = (seq: number) =>
      db
        .insertInto('entries')
        .values({ ...row, seq, recorded_at: new Date(0) })
        .execute();
    await slipIn(100_000);
    await sealNow(environment.context);
    await sql`UPDATE seals SET sealed_at = sealed_at - INTERVAL 1 DAY`.execute(db);
    await slipIn(50_000);
    expect(saysOf(await checkBooks(environment.context))).toContain('entry en_50000: it is in no sealed position');
  });

  /** A revision of a report, cut at a position. */
  async function cutAt({ position, hash, entrySeq }: Omit<Seal, 'hash'> & { hash: Buffer | null }): Promise<void> {
    const blank = { made_at: new Date(), proven: 0, digest: Buffer.alloc(32), sha256: Buffer.alloc(32), files: '[]' };
    const cut = { cut_entry_seq: entrySeq, cut_event_seq: 0, cut_mismatch_change_seq: 0 };
    const sealed = { cut_seal_position: position, cut_seal_hash: hash };
    const rest = { checked_entry_seq: 0, checked_event_seq: 0, locale: 'en', full_documents: 0, version: '0' };
    await environment.context.db
      .insertInto('reports')
      .values({ day: DAY, revision: 1, state: 'closed', ...blank, ...cut, ...sealed, ...rest })
      .execute();
  }

  test('a chain that was cut off at its end is missed by the report that was cut at it', async () => {
    const { db } = environment.context;
    await keepBooks();
    const head = await sealNow(environment.context);
    await cutAt(head);
    await dropTriggers(db);
    await db.deleteFrom('seals').where('position', '=', head.position).execute();
    expect(saysOf(await checkBooks(environment.context))).toContain(
      `seal ${head.position}: the report of ${DAY}, revision 1, was cut there, and the chain ends at ${head.position - 1}`,
    );
  });

  /** As somebody with all rights could: the chain and the balances of it are made anew, and whole in themselves. */
  async function rebuildChain(): Promise<void> {
    await dropTriggers(environment.context.db);
    for (const table of ['seals', 'seal_stragglers', 'balance_spans'] as const) {
      await environment.context.db.deleteFrom(table).execute();
    }
    await sealNow(environment.context);
  }

  test('a rebuilt chain is detected by the report that was cut at the old one', async () => {
    const { context } = environment;
    await keepBooks();
    await cutAt((await readSeal(context.db, 1)) as Seal);
    expect(await checkBooks(context)).toMatchObject({ breaks: [] });
    await rebuildChain();
    expect((await checkBooks(context)).breaks).toEqual([
      { scope: 'seal 1', says: `its hash is not the one that the report of ${DAY}, revision 1, was cut at` },
    ]);
  });

  test("a rebuilt chain is detected by the night's manifest on this machine", async () => {
    const { context } = environment;
    await learn(['paid@1']);
    await sealNow(context);
    const file = (await writeManifest(context)) ?? '';
    expect(await checkBooks(context)).toMatchObject({ breaks: [] });
    await rebuildChain();
    const name = path.basename(file);
    const says = `its hash is not the one in manifests/${name}`;
    expect((await checkBooks(context)).breaks).toEqual([{ scope: 'seal 1', says }]);
    await context.db.deleteFrom('seals').execute();
    expect(saysOf(await checkBooks(context))).toContain(`seal 1: manifests/${name} names it, and the chain ends at 0`);
    writeFileSync(file, '{"sealed":7}');
    writeFileSync(path.join(path.dirname(file), 'notes.json'), 'of mine');
    expect(saysOf(await checkBooks(context))).toContain(`manifests/${name}: it is no manifest that can be read`);
    expect(saysOf(await checkBooks(context))).not.toContain('notes');
  });

  test('a reversal that names another entry than the adjustment that it takes back is found', async () => {
    const { context } = environment;
    const same = { platform: 'p', day: DAY, kind: 'fee', amountCents: -300n, note: 'n', actor: 'a' } as const;
    const [taken, other] = [await adjustBooks(context, same), await adjustBooks(context, same)];
    const back = await reverseAdjustment(context, taken, { note: 'n', actor: 'a' });
    await dropTriggers(context.db);
    await sql`UPDATE entries SET reverses_seq = (SELECT entry_seq FROM adjustments WHERE id = ${other})
    WHERE seq = (SELECT entry_seq FROM adjustments WHERE id = ${back})`.execute(context.db);
    const said = saysOf(await checkBooks(context));
    expect(said).toContain(`${taken}: it was taken back, and its entry`);
    expect(said).toContain(`${other}: its entry`);
  });

  test('an entry that was sealed late and is not recorded as late is found', async () => {
    const { context } = environment;
    await keepBooks();
    await dropTriggers(context.db);
    const row = { kind: 'adjustment', platform: 'p', at_wall: `${DAY} 00:00:00`, source_kind: 'person' };
    // as when another node commits a lower number later
    const insert = (seq: number) =>
      context.db
        .insertInto('entries')
        .values({ ...row, seq, recorded_at: new Date() })
        .execute();
    await insert(60);
    await sealNow(context);
    await insert(50);
    const { position } = await sealNow(context);
    const isOf = `seal ${position}: `;
    expect(saysOf(await checkBooks(context))).not.toContain(isOf);
    await context.db.deleteFrom('seal_stragglers').where('entry_seq', '=', 50).execute();
    expect(saysOf(await checkBooks(context))).toMatch(new RegExp(`${isOf}.* en_50`));
  });

  /** The same process, some minutes later. */
  function laterBy(minutes: number): TestEnvironment['context'] {
    const { context } = environment;
    const now = (): Date => new Date(context.clock.now().getTime() + minutes * 60_000);
    return { ...context, clock: { ...context.clock, now } };
  }

  test('entries unsealed for ten minutes are reported while another process holds the lease', async () => {
    const { context } = environment;
    await keepBooks();
    await learn(['paid@9'], ['paid@9']);
    await sql`UPDATE sealing SET holder = 'x', lease_until = '2999-01-01'`.execute(context.db);
    expect(await checkBooks(laterBy(9), { leaseGivenMs: 0 })).toMatchObject({ breaks: [] });
    const { breaks } = await checkBooks(laterBy(11), { leaseGivenMs: 0 });
    expect(breaks).toEqual([
      { scope: 'seals', says: expect.stringMatching(/^2 entries, from en_\d+ on, .* older than 10 minutes/) },
    ]);
    expect((await measure(laterBy(11))) / 60).toBeGreaterThanOrEqual(11);
  });

  test('entries unsealed for ten minutes are sealed and not reported when no process holds the lease', async () => {
    const { context } = environment;
    await learn(['paid@9']);
    expect(await checkBooks(laterBy(11))).toMatchObject({ broken: 0, position: 1 });
    expect(await readMismatchRows(context, 'books_broken')).toEqual([]);
    expect(await measure(laterBy(11))).toBe(0);
  });
});

async function measure(context: TestEnvironment['context']): Promise<number> {
  const [unsealed] = await readSealMetrics(context);
  return Number(unsealed?.values);
}
