import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { copyKeysAndManifests } from '../../../src/backup/copy-data-dir.ts';
import type { Context } from '../../../src/context.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { finishReposts } from '../../../src/ledger/stated/state-opening.ts';
import { type BooksCheck, checkAllBooks, checkBooks, checkNewBooks } from '../../../src/proof/check-books.ts';
import {
  type CheckState,
  continueState,
  formatState,
  parseState,
  type Step,
  startState,
} from '../../../src/proof/check-state.ts';
import { collectBreaks } from '../../../src/proof/collect-breaks.ts';
import { verifyBalances } from '../../../src/proof/verify-balances.ts';
import { verifyChain } from '../../../src/proof/verify-chain.ts';
import { readSealMetrics } from '../../../src/proof/verify-sealed.ts';
import { verifyStated } from '../../../src/proof/verify-stated.ts';
import { verifyPlatforms } from '../../../src/proof/verify-touched.ts';
import { readSeal, type Seal } from '../../../src/seal/read-seals.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { createCheckpointer } from '../../../src/tlog/checkpoints.ts';
import { listRecorded, writeNightly } from '../../../src/tlog/recorded.ts';
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
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

/** The nightly check, as if the books were large. */
const checkNew = (context: Context) => checkNewBooks(context, -1);

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

const saysOf = ({ breaks }: Pick<BooksCheck, 'breaks'>) => breaks.map((one) => `${one.scope}: ${one.says}`).join('\n');

// a table of its own: MySQL takes none that the statement changes
const PAID = "(SELECT * FROM (SELECT seq FROM events WHERE status = 'paid' LIMIT 1) AS first)";
const FIRST = '(SELECT * FROM (SELECT MIN(seq) FROM entries) AS first)';
const REVERSAL = '(SELECT * FROM (SELECT MIN(seq) FROM entries WHERE reverses_seq IS NOT NULL) AS first)';

/** Runs one step of the check until it is done. @returns its breaks. */
async function runStep(step: Step, of: { context: TestEnvironment['context']; state: CheckState; proof?: CheckState }) {
  const { report, breaks } = collectBreaks();
  while (await step({ proof: undefined, ...of, report, scratch: {} }));
  return breaks;
}

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
      unverified: 0,
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
    const state = await startState(context.db);
    expect(await runStep(verify, { context: interruptAfterRow(context, () => true, meets), state })).toEqual([]);
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
    const isSum = (row: object) => 'span' in row && 'amount_cents' in row;
    const check = await checkBooks(interruptAfterRow(context, isSum, repost));
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
    for (const table of ['seals', 'seal_stragglers', 'balance_spans', 'log_hashes', 'log_checkpoints'] as const) {
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

  test('a rebuilt chain and log are detected by the checkpoints of this machine and of the shared directory, which are backed up', async () => {
    const { context } = environment;
    await learn(['paid@1']);
    await sealNow(context);
    await createCheckpointer(context)();
    const home = context.config.DATA_DIR;
    const own = (await listRecorded(context.config)).map((one) => path.basename(one));
    mkdirSync(path.join(home, 'shared'));
    const replica = await environment.replica();
    const file = (await writeNightly(replica)) ?? '';
    const { names } = await copyKeysAndManifests(replica.config, (_, content) => text(content));
    expect(names).toEqual([path.basename(file), ...own].map((name) => `data/manifests/${name}`));
    expect(await checkBooks(replica)).toMatchObject({ breaks: [] });
    const before = (await readSeal(context.db, 1)) as Seal;
    await rebuildChain();
    const rebuilt = (await readSeal(context.db, 1)) as Seal;
    expect(rebuilt.hash).not.toEqual(before.hash);
    const says = "its root of 1 leaves is not the log's";
    expect((await checkBooks(replica)).breaks).toEqual(
      [path.basename(file), ...own].map((name) => ({ scope: `manifests/${name}`, says })),
    );
    writeFileSync(file, 'x');
    writeFileSync(path.join(path.dirname(file), 'notes.json'), 'of mine');
    const said = saysOf(await checkBooks(replica));
    expect(said).toContain(`manifests/${path.basename(file)}: it has no checkpoint that can be read`);
    expect(said).not.toContain('notes');
  });

  test('a log that was cut below its checkpoints is found, in the database and by the files of this machine', async () => {
    const { context } = environment;
    for (const status of ['paid@1', 'refund@2']) {
      await learn([status]);
      await sealNow(context);
    }
    await createCheckpointer(context)();
    expect(await checkBooks(context)).toMatchObject({ breaks: [] });
    await dropTriggers(context.db);
    await sql`DELETE FROM log_hashes WHERE level = 0 ORDER BY position DESC LIMIT 1`.execute(context.db);
    const { breaks } = await checkBooks(context);
    expect(breaks.map(({ says }) => says)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('leaves were signed or checked, and the log has fewer'),
        expect.stringMatching(/^it names \d+ leaves, and the log has fewer$/),
      ]),
    );
  });

  test('a seal of the last days that was changed in place is found at night too', async () => {
    const { context } = environment;
    for (const status of ['paid@1', 'refund@2']) {
      await learn([status]);
      await sealNow(context);
    }
    expect(await checkNewBooks(context)).toMatchObject({ breaks: [] });
    await dropTriggers(context.db);
    await sql`UPDATE seals SET hash = ${Buffer.alloc(32)} ORDER BY position LIMIT 1`.execute(context.db);
    const { breaks } = await checkBooks(context, { sinceProof: true });
    expect(breaks).toContainEqual({ scope: 'seal 1', says: 'it is not that of its leaf in the log' });
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

describe('books that were proven, and continued', () => {
  /** The first rows after the proof, and an old transaction that changed. */
  type After = { entry: number; position: number; old: number };
  let after: After;
  let restore: () => Promise<void>;
  beforeAll(async () => {
    environment = await openEnvironment();
    const { context } = environment;
    await keepBooks();
    const [id = ''] = await learn(['pending@5']);
    const proven = await sealNow(context);
    expect(await checkAllBooks(context)).toMatchObject({ position: proven.position, broken: 0 });
    const more = { operation: 'cashout', platform: 'p', commission: '0.10', amount: '10.00', id } as const;
    const paid = makeShownTransaction(['pending@5', 'paid@6'], more);
    await applyObservations(context, [observeNow(context, paid, 1)]);
    await learn(['pending@7', 'paid@8', 'refund@9']);
    await adjustBooks(context, { platform: 'p', day: DAY, kind: 'fee', amountCents: -500n, note: 'n', actor: 'a' });
    await sealNow(context);
    const { seq } = await context.db
      .selectFrom('transactions')
      .select('seq')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    after = { entry: proven.entrySeq + 1, position: proven.position + 1, old: seq };
    await dropTriggers(context.db);
    restore = await backUpRows(context.db);
  });
  afterEach(() => restore());
  afterAll(() => environment[Symbol.asyncDispose]());

  test('the next check reads what is new, and the one after it nothing', async () => {
    const { context } = environment;
    const { entries, position } = (await checkNew(context)) as BooksCheck;
    expect(entries).toBeGreaterThan(4);
    expect(position).toBeGreaterThanOrEqual(after.position);
    expect(await checkNew(context)).toMatchObject({ entries: 0, position, broken: 0 });
    const rows = await context.db.selectFrom('books_checks').selectAll().orderBy('seq').execute();
    expect(rows.map((row) => row.since_seq !== null)).toEqual([false, true, true]);
    const whole = await checkBooks(context);
    // small books are checked whole
    expect(await checkNewBooks(context)).toEqual(whole);
    expect(rows.at(-1)).toMatchObject({ entries: whole.entries, transactions: whole.transactions, broken: 0 });
  });

  const changed: [string, (at: After) => string, RegExp[]][] = [
    [
      'a cent',
      ({ entry }) => `UPDATE postings SET amount_cents = amount_cents + 1 WHERE entry_seq = ${entry} LIMIT 1`,
      [/sum to zero/, /its hash/, /balance 2026-11/, /in force/],
    ],
    [
      'both sides of an entry',
      ({ entry }) => `UPDATE postings SET amount_cents = amount_cents * 2 WHERE entry_seq = ${entry}`,
      [/its hash/, /balance 2026-11-20 23/, /in force/],
    ],
    ['an entry that is gone', ({ entry }) => `DELETE FROM entries WHERE seq = ${entry}`, [/and no entry/, /and gone/]],
    [
      'all postings of an entry',
      ({ entry }) => `DELETE FROM postings WHERE entry_seq = ${entry}`,
      [/are not there/, /its hash/],
    ],
    [
      'an old event of a transaction that changed since',
      ({ old }) => `UPDATE events SET status = 'denied' WHERE transaction_seq = ${old} AND status = 'pending'`,
      [/in force/],
    ],
    [
      'the row of an old transaction that changed since',
      ({ old }) => `UPDATE transactions SET status = 'denied' WHERE seq = ${old}`,
      [/its status are not those/],
    ],
    [
      // as if it was committed after rows with higher numbers
      'the row of a transaction just below the numbers of the proof',
      () => "UPDATE transactions SET status = 'denied' WHERE seq = 1",
      [/its status are not those/],
    ],
    [
      'the amount of a transaction',
      () => 'UPDATE transactions SET amount_cents = 1 ORDER BY seq DESC LIMIT 1',
      [/in force/],
    ],
    [
      'an adjustment that is gone',
      () => 'DELETE FROM adjustments ORDER BY seq DESC LIMIT 1',
      [/no transaction, opening or adjustment asks for it/],
    ],
    ['an opening', () => 'UPDATE openings SET balance_cents = 1 WHERE in_force = 1', [/is not what was stated/]],
    [
      'a sum of an hour',
      () => "UPDATE balance_spans SET amount_cents = amount_cents + 1 WHERE grain = 'hour' LIMIT 1",
      [/cents are folded, and the postings sum to/],
    ],
    ['balances that are gone', () => 'DELETE FROM balance_spans', [/balance 2026-11 .*0 cents are folded/]],
    [
      'what a position names',
      ({ position }) => `UPDATE seals SET members = '1-99999999' WHERE position = ${position}`,
      [/it names more than/],
    ],
    [
      'when a position was sealed',
      ({ position }) => `UPDATE seals SET sealed_at = '2026-01-01' WHERE position = ${position}`,
      [/its hash is not that of/],
    ],
    [
      'the newest positions',
      ({ position }) => `DELETE FROM seals WHERE position >= ${position - 1}`,
      [/it has a leaf in the log, and is gone/],
    ],
    [
      'the hash of the proven position',
      ({ position }) => `UPDATE seals SET hash = UNHEX(REPEAT("ab", 32)) WHERE position = ${position - 1}`,
      [/it is not that of its leaf in the log/],
    ],
  ];
  test.each(changed)('damage after the proof is found: %s', async (_, damage, reported) => {
    await sql.raw(damage(after)).execute(environment.context.db);
    const check = (await checkNew(environment.context)) as BooksCheck;
    for (const says of reported) expect(saysOf(check)).toMatch(says);
    const raised = await environment.context.db.selectFrom('mismatches').select('scope').execute();
    expect(new Set(raised.map((one) => one.scope))).toEqual(new Set(check.breaks.map((one) => one.scope)));
    // it is no proof: the next one finds it again
    expect(await checkNew(environment.context)).toMatchObject({ broken: check.broken });
  });

  test.each([
    ['both sides of an entry', 'UPDATE postings SET amount_cents = amount_cents * 2 WHERE entry_seq = 1', /seal 1: /],
    ['when it was known', "UPDATE entries SET recorded_at = '2026-01-01' WHERE seq = 1", /seal 1: its hash/],
    ['when a position was sealed', "UPDATE seals SET sealed_at = '2026-01-01' WHERE position = 1", /seal 1: its hash/],
  ])('damage before the proof is found by the next whole check: %s', async (_, damage, reported) => {
    const { context } = environment;
    await sql.raw(damage).execute(context.db);
    const { breaks } = (await checkNew(context)) as BooksCheck;
    expect(breaks.filter(({ scope }) => scope.startsWith('seal'))).toEqual([]);
    expect(saysOf((await checkAllBooks(context)) as BooksCheck)).toMatch(reported);
  });

  test('an entry that was sealed late is verified with the position that seals it', async () => {
    const { context } = environment;
    const fee = { platform: 'p', day: DAY, kind: 'fee', amountCents: -100n, note: 'n', actor: 'a' } as const;
    await sql`ALTER TABLE entries AUTO_INCREMENT = 1000`.execute(context.db);
    await adjustBooks(context, fee);
    await sealNow(context);
    expect(await checkNew(context)).toMatchObject({ broken: 0 });
    await adjustBooks(context, fee);
    const { numbered } = await context.db
      .selectFrom('entries')
      .select((eb) => eb.fn.max('seq').as('numbered'))
      .executeTakeFirstOrThrow();
    // as another node of a cluster commits it
    for (const column of ['entries SET seq', 'postings SET entry_seq', 'adjustments SET entry_seq']) {
      const [, name = ''] = column.split(' SET ');
      await sql.raw(`UPDATE ${column} = 500 WHERE ${name} = ${numbered}`).execute(context.db);
    }
    await sealNow(context);
    await sql`UPDATE postings SET amount_cents = amount_cents + 1 WHERE entry_seq = 500 LIMIT 1`.execute(context.db);
    const said = saysOf((await checkNew(context)) as BooksCheck);
    for (const says of [/entry en_500: .* sum to zero/, /seal \d+: its hash/, /balance 2026-11 /])
      expect(said).toMatch(says);
    await sql`UPDATE postings SET amount_cents = amount_cents - 1 WHERE entry_seq = 500 LIMIT 1`.execute(context.db);
    expect(await checkNew(context)).toMatchObject({ entries: 1, broken: 0 });
  });

  test('an entry that was not sealed yet at the proof is missed if it never is', async () => {
    const { context } = environment;
    const { walk, ...state } = await startState(context.db);
    const proven = { ...state, walk: { ...walk, uncovered: new Map([[999, 0]]) } };
    const continued = await continueState(context.db, parseState(formatState(proven)) as CheckState);
    expect(saysOf({ breaks: await runStep(verifyChain, { context, state: continued }) })).toMatch(/^entry en_999: /);
  });

  test('the transactions of a platform are read again if its opening is another one', async () => {
    const { context } = environment;
    await sql`UPDATE openings SET day = '2026-11-21' WHERE in_force = 1`.execute(context.db);
    const state = await startState(context.db);
    const breaksSince = (openings: CheckState['openings']) =>
      runStep(verifyPlatforms, { context, state: structuredClone(state), proof: { ...state, openings } });
    expect(await breaksSince(state.openings)).toEqual([]);
    expect(saysOf({ breaks: await breaksSince({ p: DAY }) })).toMatch(/in force are not those/);
    expect(saysOf({ breaks: await breaksSince({ p: null }) })).toMatch(/in force are not those/);
  });

  test('an interrupted whole check continues where it was', async () => {
    const { context } = environment;
    const stop = new AbortController();
    const stopped = { ...context, signal: stop.signal };
    const atHistories = interruptAfterRow(
      stopped,
      (row) => 'event_count' in row,
      async () => stop.abort(),
    );
    await expect(checkAllBooks(atHistories)).rejects.toThrow();
    const open = context.db.selectFrom('books_checks').select(['seq', 'state']).where('finished_at', 'is', null);
    const { seq } = await open.executeTakeFirstOrThrow();
    // the chain was read: it is not read again
    await sql`UPDATE seals SET sealed_at = '2026-01-01' WHERE position = 1`.execute(context.db);
    expect(await checkAllBooks(context)).toMatchObject({ broken: 0 });
    expect(await open.execute()).toEqual([]);
    const newest = context.db.selectFrom('books_checks').select(['seq', 'since_seq', 'transactions']);
    expect(await newest.orderBy('seq', 'desc').executeTakeFirst()).toMatchObject({ seq, transactions: 4 });
    expect(saysOf((await checkAllBooks(context)) as BooksCheck)).toMatch(/seal 1: its hash/);
  });

  test('a row of books_checks that was written by hand is not used', async () => {
    const { context } = environment;
    const { entries } = await checkBooks(context);
    await sql`UPDATE books_checks SET transactions = transactions + 1`.execute(context.db);
    expect(await checkNew(context)).toMatchObject({ entries, broken: 0 });
    await sql`UPDATE seals SET sealed_at = '2026-01-01' WHERE position = 1`.execute(context.db);
    // as if it were at its last step
    await sql`UPDATE books_checks SET finished_at = NULL`.execute(context.db);
    expect(saysOf((await checkAllBooks(context)) as BooksCheck)).toMatch(/seal 1: its hash/);
  });

  test('nights fail once no whole check was finished for four weeks, unless it is off', async () => {
    const { context } = environment;
    const clock = { ...context.clock, now: () => new Date(Date.now() + 29 * 24 * 3_600_000) };
    const later = { ...context, clock };
    await expect(checkNew(later)).rejects.toThrow(/no check of the whole books was finished since the one of 20/);
    const off = { ...later, config: { ...context.config, JOB_CHECK_ALL_BOOKS: 'off' } };
    expect(await checkNew(off)).toMatchObject({ broken: 0 });
    await checkAllBooks(later);
    expect(await checkNew(later)).toMatchObject({ broken: 0 });
  });

  test('a break that appears while a batch is read again is not passed over', async () => {
    const { context } = environment;
    const damage = (seq: string) =>
      sql.raw(`UPDATE transactions SET event_count = 9 WHERE seq = ${seq}`).execute(context.db);
    await damage('1');
    const isTransaction = (row: object) => 'event_count' in row;
    const meanwhile = interruptAfterRow(context, isTransaction, () => damage(String(after.old)));
    const { breaks } = (await checkAllBooks(meanwhile)) as BooksCheck;
    expect(breaks.filter(({ says }) => says.includes('event_count'))).toHaveLength(2);
  });

  test('a break that a person resolved stays so while its evidence is the same', async () => {
    const { context } = environment;
    // two steps find it
    await sql`DELETE FROM entries WHERE seq = ${after.entry}`.execute(context.db);
    await checkNew(context);
    const changes = () => context.db.selectFrom('mismatch_changes').select('seq').execute();
    await sql`UPDATE mismatches SET state = 'resolved', open_scope = NULL, kept_scope = scope`.execute(context.db);
    const before = await changes();
    await checkNew(context);
    expect(await changes()).toEqual(before);
    const states = await context.db.selectFrom('mismatches').select('state').distinct().execute();
    expect(states).toEqual([{ state: 'resolved' }]);
  });

  test('of two whole checks at once, one ends', async () => {
    const { context } = environment;
    let other: unknown;
    const overtaken = interruptAfterRow(
      context,
      (row) => 'event_count' in row,
      async () => {
        other = await checkAllBooks(context);
      },
    );
    expect(await checkAllBooks(overtaken)).toBeUndefined();
    expect(other).toMatchObject({ broken: 0 });
  });

  test('doctor checks what came after the proof, if it is asked to', async () => {
    const { env } = environment;
    const { out } = await runCommandInProcess(['doctor', '--books', '--since-proof', '--json'], env);
    expect(out).toMatch(/ \d+ entries since the last proof are consistent; the chain is whole up to position/);
    await environment.context.db.deleteFrom('books_checks').execute();
    const unproven = await runCommandInProcess(['doctor', '--books', '--since-proof', '--json'], env);
    expect(unproven.out).toContain('no books check was finished without a break');
    expect(await runCommandInProcess(['doctor', '--since-proof'], env)).toMatchObject({ code: 2 });
  });

  test('a whole check pauses for as long as it works', async () => {
    const { context } = environment;
    let [workedMs, pausedMs] = [0, 0];
    const timers = {
      ...context.timers,
      monotonicMs: () => (workedMs += 150),
      sleep: async (ms: number) => {
        pausedMs += ms;
      },
    };
    await checkAllBooks({ ...context, timers });
    expect(pausedMs).toBeGreaterThan(1_000);
    expect(pausedMs).toBeLessThan(workedMs);
  });
});

async function measure(context: TestEnvironment['context']): Promise<number> {
  const [unsealed] = await readSealMetrics(context);
  return Number(unsealed?.values);
}
