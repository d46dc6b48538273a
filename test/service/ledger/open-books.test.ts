import { afterEach, beforeEach, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { formatAmount } from '../../../src/domain/money.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import {
  adjustBooks,
  makeAdjustmentId,
  reverseAdjustment,
  writeAdjustment,
} from '../../../src/ledger/stated/adjust-books.ts';
import { listAdjustments } from '../../../src/ledger/stated/list-adjustments.ts';
import { finishReposts } from '../../../src/ledger/stated/state-opening.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { type AsOf, readBalances } from '../../../src/seal/read-balances.ts';
import { loseCommit } from '../../support/failing-database.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openBooks, reverseOpening } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import {
  interruptAfterRow,
  makeShownTransaction,
  observeNow,
  readLedgerState,
} from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
let seconds = 0;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

async function observe(...rows: ShownTransaction[]): Promise<void> {
  seconds++;
  await applyObservations(
    environment.context,
    rows.map((row) => observeNow(environment.context, row, seconds)),
  );
}

const open = (day: string, balanceCents: bigint, platform = 'p') =>
  openBooks(environment.context, { platform, day, balanceCents, actor: 'command' });

async function balances(at = '2027-01-01 00:00:00', known: AsOf = 'now'): Promise<Record<string, string>> {
  const { balances: rows } = await readBalances(environment.context.db, at, known, environment.context.clock.now());
  return Object.fromEntries(
    rows.map((row) => [row.account, formatAmount(row.cents)]).filter(([, amount]) => amount !== '0.00'),
  );
}

/** Moments of events, each of its own day. */
function lived(
  operation: 'cashin' | 'cashout',
  history: [status: string, day: string][],
  more: Partial<ShownTransaction> = {},
) {
  const events = history.map(([status, day]) => ({ status, date_created: `${day} 12:00:00` }));
  return makeShownTransaction([], {
    operation,
    status: events.at(-1)?.status ?? '',
    date_created: events[0]?.date_created ?? '',
    events: events.toReversed(),
    platform: 'p',
    commission: '0.10',
    ...more,
  });
}

const AVAILABLE = 'Assets:Provider:Available:p';
const AVAILABLE_OF_Q = 'Assets:Provider:Available:q';
const HELD = 'Assets:Provider:Held:p';

/** One of each: wholly before the opening of the 10th, across it, and after it. */
const ALL = () => [
  lived('cashin', [
    ['pending', '2026-11-01'],
    ['paid', '2026-11-02'],
  ]),
  lived('cashin', [
    ['paid', '2026-11-03'],
    ['refund', '2026-11-12'],
  ]),
  lived(
    'cashout',
    [
      ['pending', '2026-11-09'],
      ['paid', '2026-11-11'],
    ],
    { amount: '3.00' },
  ),
  lived('cashout', [
    ['pending', '2026-11-09'],
    ['denied', '2026-11-09'],
  ]),
  lived('cashout', [['pending', '2026-11-08']], { amount: '4.00' }),
  lived('cashin', [['paid', '2026-11-10']], { amount: '7.00' }),
];
const OPENED = {
  [AVAILABLE]: '89.80',
  [HELD]: '4.00',
  'Equity:Opening:p': '-100.00',
  'Expenses:Commission:Cashin:p': '0.10',
  'Expenses:Commission:Cashout:p': '0.10',
  'Liabilities:Payables:p': '3.00',
  // 7.00 received, and 10.00 of before returned
  'Liabilities:Receipts:p': '3.00',
};

test('an opening stated before anything is known, or after all of it, comes to the same books', async () => {
  const rows = ALL();
  await open('2026-11-10', 10_000n);
  await observe(...rows);
  const before = await balances();
  expect(before).toEqual(OPENED);
  const { postings } = await readLedgerState(environment.context);

  await environment[Symbol.asyncDispose]();
  environment = await openEnvironment();
  await observe(...rows);
  await open('2026-11-10', 10_000n);
  expect(await balances()).toEqual(before);
  expect((await readLedgerState(environment.context)).postings).toEqual(postings);
});

test('what was posted before an opening is reversed at its own time, and nothing is taken away', async () => {
  const [early] = ALL();
  await observe(early ?? makeShownTransaction([]));
  const entries = () =>
    environment.context.db
      .selectFrom('entries')
      .select(['seq', 'kind', 'at_wall', 'reverses_seq'])
      .orderBy('seq')
      .execute();
  const posted = await entries();
  await open('2026-11-10', 0n);
  expect((await entries()).slice(0, posted.length)).toEqual(posted);
  expect((await entries()).filter((entry) => entry.kind === 'reversal')).toMatchObject([
    { at_wall: '2026-11-02 12:00:00', reverses_seq: posted[0]?.seq },
  ]);
  expect(await balances('2026-11-10 00:00:00')).toEqual({});
});

test('what was held when the books were opened is held from then on, and freed by what followed', async () => {
  await open('2026-11-10', 10_000n);
  await observe(...ALL().slice(2, 5));
  const justOpened = await balances('2026-11-10 00:00:01');
  expect(justOpened).toEqual({ [AVAILABLE]: '93.00', [HELD]: '7.00', 'Equity:Opening:p': '-100.00' });
  expect(await balances()).toMatchObject({ [AVAILABLE]: '92.90', [HELD]: '4.00', 'Liabilities:Payables:p': '3.00' });
});

test('a second opening of a platform is a conflict and changes nothing; another platform has its own', async () => {
  await open('2026-11-10', 10_000n);
  const before = await readLedgerState(environment.context);
  await expect(open('2026-11-11', 5n)).rejects.toMatchObject({ code: 'conflict' });
  expect(await readLedgerState(environment.context)).toEqual(before);
  await open('2026-11-10', -500n, 'P');
  expect(await balances()).toMatchObject({ [AVAILABLE]: '100.00', 'Assets:Provider:Available:P': '-5.00' });
  const both = await Promise.allSettled([open('2026-11-10', 1n, 'q'), open('2026-11-10', 2n, 'q')]);
  expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('a balance is of what happened before an instant, by what was known before another', async () => {
  const row = lived('cashin', [['paid', '2026-11-02']]);
  await observe(row);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const known = environment.context.clock.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await observe(
    lived(
      'cashin',
      [
        ['paid', '2026-11-02'],
        ['refund', '2026-11-03'],
      ],
      { id: row.id },
    ),
  );
  expect(await balances('2026-11-02 12:00:00')).toEqual({});
  expect(await balances('2026-11-02 12:00:01')).toMatchObject({ [AVAILABLE]: '9.90' });
  expect(await balances()).toMatchObject({ [AVAILABLE]: '-0.10' });
  expect(await balances('2027-01-01 00:00:00', { before: known })).toMatchObject({ [AVAILABLE]: '9.90' });
});

test('the balances of all accounts sum to zero', async () => {
  await observe(...ALL());
  await open('2026-11-10', 12_345n);
  for (const at of ['2026-11-03 00:00:00', '2026-11-10 00:00:01', '2027-01-01 00:00:00']) {
    const { balances: rows } = await readBalances(environment.context.db, at, 'now', environment.context.clock.now());
    expect(rows.reduce((sum, row) => sum + row.cents, 0n)).toBe(0n);
  }
});

test('an opening that is taken back while its histories are booked by it leaves nothing of it behind', async () => {
  const { context } = environment;
  await observe(...ALL());
  const before = (await readLedgerState(context)).postings;
  const takeBack = async () => {
    const { id } = await context.db.selectFrom('openings').select('id').executeTakeFirstOrThrow();
    await reverseOpening(context, id);
  };
  // between the rows of a batch and their entries
  const slow = interruptAfterRow(context, (row) => Object.keys(row).sort().join() === 'id,seq', takeBack);
  await openBooks(slow, { platform: 'p', day: '2026-11-10', balanceCents: 1_000n, actor: 'command' });
  const after = (await readLedgerState(context)).postings;
  expect(after).toEqual(before);
  const left = await context.db.selectFrom('openings').select(['in_force', 'reposted_at']).execute();
  expect(left).toEqual([{ in_force: null, reposted_at: expect.any(Date) }]);
});

test('a retry after a lost COMMIT response reverses the opening once, without a conflict', async () => {
  const { context } = environment;
  const id = await openBooks(context, { platform: 'p', day: '2026-11-10', balanceCents: 1_000n, actor: 'command' });
  await reverseOpening(loseCommit(context, 'openings'), id);
  const left = await context.db.selectFrom('openings').select(['in_force', 'reposted_at']).execute();
  expect(left).toEqual([{ in_force: null, reposted_at: expect.any(Date) }]);
  expect(await context.db.selectFrom('entries').select('seq').execute()).toHaveLength(2);
  await expect(reverseOpening(context, id)).rejects.toMatchObject({ code: 'conflict' });
});

test('an entry that an opening asked for says so, and an event where it was seen', async () => {
  const { context } = environment;
  const row = lived('cashin', [['paid', '2026-11-02']]);
  await observe(row);
  const id = await open('2026-11-10', 1_000n);
  await observe(lived('cashin', [['paid', '2026-11-12']]));
  const story = await describeTransaction(context.db, context.calendar, row.id);
  expect(story?.events.map((event) => event.source.kind)).toEqual(['show']);
  expect(story?.entries.map(({ reverses, source }) => [reverses, source.kind, source.opening_id])).toEqual([
    [null, 'show', undefined],
    [story?.entries[0]?.id, 'person', id],
  ]);
  const stated = await context.db
    .selectFrom('entries')
    .select('source_kind')
    .where('transaction_seq', 'is', null)
    .execute();
  expect(stated).toEqual([{ source_kind: 'person' }]);
});

const adjust = (day: string, amountCents: bigint, platform = 'p') =>
  adjustBooks(environment.context, { platform, day, kind: 'bank', amountCents, note: 'n', actor: 'a' });

test('an adjustment before an opening is reversed by it, and booked again once the opening is reversed', async () => {
  await adjust('2026-11-01', -10_000n);
  await adjust('2026-11-01', -500n);
  await adjust('2026-11-10', -25n);
  await adjust('2026-11-01', -7n, 'q');
  const wrong = await adjust('2026-11-02', 99n);
  await reverseAdjustment(environment.context, wrong, { note: 'wrong', actor: 'a' });
  const before = await balances();
  const opening = await open('2026-11-10', 100_000n);
  expect(await balances('2026-11-10 00:00:00')).toEqual({ [AVAILABLE_OF_Q]: '-0.07', 'Assets:Bank:q': '0.07' });
  expect(await balances()).toMatchObject({ [AVAILABLE]: '999.75', 'Assets:Bank:p': '0.25' });
  expect(await checkBooks(environment.context)).toMatchObject({ breaks: [] });

  await reverseOpening(environment.context, opening);
  expect(await balances()).toEqual(before);
  expect((await balances('2026-11-10 00:00:00'))[AVAILABLE]).toBe('-105.00');
  const earlier = await open('2026-11-01', 0n);
  expect(await balances()).toMatchObject({ [AVAILABLE]: '-105.25' });
  await reverseOpening(environment.context, earlier);
  await open('2026-11-03', 0n);
  expect(await balances()).toMatchObject({ [AVAILABLE]: '-0.25' });
  expect(await checkBooks(environment.context)).toMatchObject({ breaks: [] });
});

test('an adjustment that was booked again can be reversed, and one that an opening reversed is reversed already', async () => {
  const id = await adjust('2026-11-01', -500n);
  const opening = await open('2026-11-10', 0n);
  const reverse = (one: string) => reverseAdjustment(environment.context, one, { note: 'n', actor: 'a' });
  await expect(reverse(id)).rejects.toMatchObject({ code: 'conflict', message: 'it is reversed already' });
  const [aside] = await listAdjustments(environment.context.db, 1, undefined);
  expect(aside).toMatchObject({ amount: '5.00', reverses: id, day: '2026-11-01' });
  expect(aside?.note).toContain(opening);
  await expect(reverse(aside?.id ?? '')).rejects.toMatchObject({ code: 'conflict' });
  await reverseOpening(environment.context, opening);
  const [again] = await listAdjustments(environment.context.db, 1, undefined);
  expect(again).toMatchObject({ amount: '-5.00', reverses: aside?.id, kind: 'bank' });
  expect(again?.note).toContain(id);
  await reverse(again?.id ?? '');
  expect(await balances()).toEqual({});
  await open('2026-11-10', 0n);
  expect(await balances()).toEqual({});
  expect(await checkBooks(environment.context)).toMatchObject({ breaks: [] });
});

test('no adjustment is taken in that is dated before the opening', async () => {
  await open('2026-11-10', 1_000n);
  const refused = { code: 'invalid_request', fields: { day: [expect.stringContaining('2026-11-10')] } };
  await expect(adjust('2026-11-09', -100n)).rejects.toMatchObject(refused);
  await adjust('2026-11-10', -100n);
  await adjust('2026-11-09', -100n, 'q');
  expect(await balances()).toMatchObject({ [AVAILABLE]: '9.00' });
  expect(await listAdjustments(environment.context.db, 9, undefined)).toHaveLength(2);
});

test('an opening interrupted before it reversed adjustments is completed once', async () => {
  const { context } = environment;
  await adjust('2026-11-01', -500n);
  const killed = { ...context, signal: AbortSignal.abort() };
  const opening = { platform: 'p', day: '2026-11-10', balanceCents: 700n, actor: 'command' };
  await expect(openBooks(killed, opening)).rejects.toThrow();
  expect(await checkBooks(context)).toMatchObject({ breaks: [] });
  await Promise.all([finishReposts(context), finishReposts(await environment.replica())]);
  expect(await balances()).toEqual({ [AVAILABLE]: '7.00', 'Equity:Opening:p': '-7.00' });
  expect(await checkBooks(context)).toMatchObject({ breaks: [] });
});

test('an adjustment that an earlier version left before an opening is reversed after the migration', async () => {
  const { context } = environment;
  await open('2026-11-10', 700n);
  const stands = { platform: 'p', day: '2026-11-09', kind: 'bank', amountCents: -100n, note: 'n', actor: 'a' } as const;
  const id = makeAdjustmentId();
  await transact(context.db, (trx) => writeAdjustment(context, trx, id, stands, {}));
  expect((await checkBooks(context)).breaks).toMatchObject([
    { scope: id, says: expect.stringContaining('before op_') },
  ]);
  await finishReposts(context);
  expect(await balances()).toMatchObject({ [AVAILABLE]: '6.00' });

  await open('2026-11-10', 5n, 'q');
  // the upgrade from that version set this
  await context.db.updateTable('openings').set({ reposted_at: null }).where('platform', '=', 'p').execute();
  expect(await checkBooks(context)).toMatchObject({ breaks: [] });
  await finishReposts(context);
  expect(await balances('2026-11-11 00:00:00')).toMatchObject({ [AVAILABLE]: '7.00' });
  expect(await checkBooks(context)).toMatchObject({ breaks: [] });
});

test('a refund that came without a history is booked with the payment that it follows, after the opening', async () => {
  const { context } = environment;
  const row = lived('cashin', [
    ['pending', '2026-11-09'],
    ['paid', '2026-11-12'],
  ]);
  await open('2026-11-10', 1_000n);
  await observe(row);
  await observe({ ...row, status: 'refund', events: [] });
  const story = await describeTransaction(context.db, context.calendar, row.id);
  expect(story?.events.map((event) => [event.status, event.at.slice(0, 10)])).toContainEqual(['refund', '2026-11-12']);
  expect(await balances('2026-11-10 00:00:01')).toEqual({ [AVAILABLE]: '10.00', 'Equity:Opening:p': '-10.00' });
  expect(await balances()).toMatchObject({ [AVAILABLE]: '9.90' });
  expect(await checkBooks(context)).toMatchObject({ breaks: [] });
});
