import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Source } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, readLedgerState, readMismatchRows } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const LIST: Source = { kind: 'list', run: { seq: 1, id: 'run_1' }, page: 1 };
const by = { actor: 'tok_1', note: 'as they wrote' };

const home = temporaryDirectory();
let world: TestEnvironment;
beforeAll(async () => {
  world = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', DATA_DIR: home.path });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

/** A refund that the provider takes back, and looks at it so many seconds after the first one. */
async function takenBack(more: Partial<ShownTransaction> = {}) {
  const began = world.context.clock.now().getTime();
  const whole = makeShownTransaction(['pending@0', 'paid@1', 'refund@2'], {
    platform: 'p',
    commission: '0.50',
    ...more,
  });
  const without = {
    ...makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50', ...more }),
    id: whole.id,
  };
  const look = async (row: ShownTransaction, seconds: number, source: Source = { kind: 'show' }) => {
    const { raised } = await applyObservations(world.context, [observe(row, new Date(began + seconds * 1000), source)]);
    return raised.map((found) => found.kind);
  };
  const told = async () =>
    (await readMismatchRows(world.context, 'status_differs')).filter((one) => one.transaction_id === whole.id);
  const refunded = async () =>
    (await describeTransaction(world.context.db, world.context.calendar, whole.id))?.transaction.status === 'refund';
  const due = async () => {
    const rows = await world.context.db
      .selectFrom('doubted_events')
      .select('due_at')
      .where('transaction_id', '=', whole.id)
      .execute();
    return rows.map((row) => row.due_at && Math.round((row.due_at.getTime() - began) / 1000));
  };
  await look(whole, 0);
  return { id: whole.id, whole, without, look, told, due, refunded };
}

test('an event that two shows a minute apart lack is told once, with what both sides have', async () => {
  const { id, without, look, told, due } = await takenBack();
  expect(await look(without, 10)).toEqual([]);
  expect(await due(), 'asked for again a minute later').toEqual([70]);
  expect(await look(without, 69)).toEqual([]);
  expect(await look(without, 70)).toEqual(['status_differs']);
  expect(await look(without, 200)).toEqual([]);
  expect(await due()).toEqual([null]);
  expect(await told()).toMatchObject([
    {
      severity: 'critical',
      state: 'open',
      transaction_id: id,
      amount: '10.00',
      baseline: false,
      expected: { status: 'refund' },
      actual: { status: 'paid', lacks: [{ status: 'refund', at: '2026-11-20T23:02:00-03:00', sequence: 3 }] },
    },
  ]);
});

test('a list that lacks it proves nothing, however often: it has a show asked for at once', async () => {
  const { without, look, told, due } = await takenBack();
  await look(without, 10, LIST);
  const [at] = await due();
  expect(at).toBeLessThanOrEqual(5);
  await look(without, 100, LIST);
  await look(without, 200, LIST);
  await look(without, 201);
  expect(await told()).toEqual([]);
  await look(without, 261);
  expect(await told()).toHaveLength(1);
});

test('a look between that has it begins anew, also one of the list', async () => {
  const { whole, without, look, told, due } = await takenBack();
  await look(without, 10);
  await look(whole, 40, LIST);
  expect(await due()).toEqual([]);
  await look(without, 75);
  expect(await told()).toEqual([]);
  await look(without, 136);
  expect(await told()).toHaveLength(1);
});

test('looks from before, and looks without a history, say nothing', async () => {
  const { without, look, due } = await takenBack();
  await look(without, -10);
  await look({ ...without, events: [] }, 20);
  expect(await due()).toEqual([]);
});

test('a later show that has it again ends it; a list has it asked for', async () => {
  const { whole, without, look, told, due } = await takenBack();
  await look(without, 10);
  await look(without, 70);
  await look(whole, 80, LIST);
  expect(await told()).toMatchObject([{ state: 'open' }]);
  expect(await due()).not.toEqual([null]);
  await look(whole, 90);
  expect(await told()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  expect(await due()).toEqual([]);
  await look(without, 100);
  await look(without, 160);
  expect(await told()).toMatchObject([{ state: 'open', reopened: 1 }]);
});

test('only a show ends what shows have told, however many lists say otherwise before it', async () => {
  const { whole, without, look, told, due } = await takenBack();
  await look(without, 10);
  await look(without, 70);
  await look(whole, 80, LIST);
  await look({ ...whole, description: 'seen anew' }, 85, LIST);
  expect(await due(), 'a show is still asked for').toHaveLength(1);
  await look(whole, 90);
  expect(await told()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('lists that say otherwise take nothing back that a show tells again', async () => {
  const { whole, without, look, told, due } = await takenBack();
  await look(without, 10);
  await look(without, 70);
  await look(whole, 80, LIST);
  await look(without, 90);
  expect(await told()).toMatchObject([{ state: 'open' }]);
  expect(await due(), 'told already').toEqual([null]);
  await look(whole, 100);
  expect(await told()).toMatchObject([{ state: 'resolved' }]);
});

test('a show that has it again ends it, though a list of the same batch lacks it after', async () => {
  const { whole, without, look, told, due } = await takenBack();
  await look(without, 10);
  await look(without, 70);
  const at = (seconds: number) => new Date(world.context.clock.now().getTime() + seconds * 1000);
  await applyObservations(world.context, [observe(whole, at(100)), observe(without, at(101), LIST)]);
  expect(await told()).toMatchObject([{ state: 'resolved' }]);
  expect(await due()).toHaveLength(1);
  await look(whole, 200, LIST);
  expect(await due()).toEqual([]);
});

test('a status that was booked from a row without a history, and that later histories lack, is told', async () => {
  const { id, without, look, told, refunded } = await takenBack({ status: 'refund', events: [] });
  expect(await refunded()).toBe(true);
  const [plain] = [without];
  const history = makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50' });
  const later = { ...plain, events: history.events, status: 'paid' };
  await look(later, 10);
  expect(await told()).toEqual([]);
  await look(later, 70);
  expect(await told()).toMatchObject([
    { state: 'open', expected: { status: 'refund' }, actual: { status: 'paid', lacks: [{ status: 'refund' }] } },
  ]);
  await acceptMismatch(world.context, (await told())[0]?.id ?? '', by);
  expect(await refunded(), 'accepted, it is none').toBe(false);
  expect((await describeTransaction(world.context.db, world.context.calendar, id))?.transaction.status).toBe('paid');
  expect(await checkBooks(world.context)).toMatchObject({ broken: 0 });
});

test('a status on the way that a history lacks and goes beyond is no contradiction', async () => {
  const { id, look, told } = await takenBack({ status: 'in_process', events: [] });
  const later = { ...makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50' }), id };
  await look(later, 10);
  await look(later, 80);
  expect(await told()).toEqual([]);
});

test('rows without histories that fall back behind a status of ours are told, until one agrees', async () => {
  const { look, told, whole } = await takenBack({ status: 'paid', events: [] });
  const bare = (status: string) => ({ ...whole, status, events: [] });
  await look(bare('pending'), 10);
  await look(bare('pending'), 40, LIST);
  expect(await told()).toEqual([]);
  await look(bare('pending'), 70);
  expect(await told()).toMatchObject([{ state: 'open', expected: { status: 'paid' }, actual: { status: 'pending' } }]);
  await look(bare('paid'), 80);
  expect(await told()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('where a row without a history falls back, a person can have the books follow it', async () => {
  const { id, look, told, whole } = await takenBack({ status: 'paid', events: [] });
  const bare = { ...whole, status: 'pending', events: [] };
  await look(bare, 10);
  await look(bare, 70);
  const [mismatch] = await told();
  expect(mismatch).toMatchObject({ state: 'open', actual: { status: 'pending', lacks: [{ status: 'paid' }] } });
  await acceptMismatch(world.context, mismatch?.id ?? '', by);
  const after = await describeTransaction(world.context.db, world.context.calendar, id);
  expect(after?.transaction.status).toBe('pending');
  const { postings } = await readLedgerState(world.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id))).toEqual([]);
  await look(bare, 150);
  expect(await told()).toMatchObject([{ state: 'resolved' }]);
});

test('a status that rows without a history told, and that stands beside a history without it, can be taken back', async () => {
  const { id, look, told, whole } = await takenBack({ status: 'paid', events: [] });
  const beside = { ...makeShownTransaction(['pending@0'], { platform: 'p', commission: '0.50' }), id, status: 'paid' };
  await look(beside, 10);
  await look(beside, 70);
  const [mismatch] = await told();
  expect(mismatch?.actual).toMatchObject({ status: 'paid', history: ['pending'], lacks: [{ status: 'paid' }] });
  await acceptMismatch(world.context, mismatch?.id ?? '', by);
  const { postings } = await readLedgerState(world.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id))).toEqual([]);
  expect(whole.id).toBe(id);
});

test('a difference that a show completes is reported, though a list stands behind it in the batch', async () => {
  const { without, look, told, whole } = await takenBack();
  await look(without, 10);
  const at = (seconds: number) => new Date(world.context.clock.now().getTime() + seconds * 1000);
  await applyObservations(world.context, [observe(without, at(100)), observe(without, at(101), LIST)]);
  expect(await told()).toMatchObject([{ state: 'open' }]);
  await look(whole, 300);
  expect(await told()).toMatchObject([{ state: 'resolved' }]);
});

test('kept, it is not told again for the same evidence', async () => {
  const { id, without, look, told } = await takenBack();
  await look(without, 10);
  await look(without, 70);
  await resolveMismatchByHand(world.context, (await told())[0]?.id ?? '', by);
  await look(without, 200);
  await look({ ...without, description: 'seen anew' }, 300);
  expect(await told()).toMatchObject([{ state: 'resolved', resolution: 'by_hand' }]);
  const story = await describeTransaction(world.context.db, world.context.calendar, id);
  expect(story?.transaction.status).toBe('refund');
});

test('accepted, the event is in force no more, its entry is reversed, and merchants are told; shown again, it is news', async () => {
  const { merchant } = await createMerchant(world.context, {
    name: 'shop',
    url: 'https://shop.example/hook',
    eventsSince: new Date(0),
  });
  const { id, whole, without, look, told } = await takenBack();
  const ours = async () =>
    Object.fromEntries(
      Object.entries((await readLedgerState(world.context)).postings).filter(([key]) => key.startsWith(id)),
    );
  const refunded = await ours();
  await look(without, 10);
  await look(without, 70);
  await acceptMismatch(world.context, (await told())[0]?.id ?? '', by);
  expect(await ours()).toEqual({
    [`${id} Assets:Provider:Available:p @ 2026-11-20 23:01:00`]: 950n,
    [`${id} Expenses:Commission:Cashin:p @ 2026-11-20 23:01:00`]: 50n,
    [`${id} Liabilities:Receipts:p @ 2026-11-20 23:01:00`]: -1000n,
  });
  const story = await describeTransaction(world.context.db, world.context.calendar, id);
  expect(story?.transaction).toMatchObject({ status: 'paid', sequence: 4 });
  expect(story?.events.map((event) => [event.status, event.in_force])).toEqual([
    ['refund', false],
    ['paid', true],
    ['pending', true],
  ]);
  const callbacks = await world.context.db
    .selectFrom('callbacks')
    .select(['type', 'sequence', 'previous_status'])
    .where('merchant_seq', '=', merchant.seq)
    .orderBy('seq', 'desc')
    .execute();
  expect(callbacks[0]).toEqual({ type: 'pix.cashin.corrected', sequence: 4, previous_status: 'refund' });
  await look(without, 200);
  expect(await told()).toMatchObject([{ state: 'resolved', resolution: 'accepted' }]);

  await look(whole, 210);
  expect(await told()).toMatchObject([
    { state: 'open', reopened: 1, expected: { status: 'paid' }, actual: { status: 'refund', lacks: [] } },
  ]);
  await acceptMismatch(world.context, (await told())[0]?.id ?? '', by);
  expect(await ours()).toEqual(refunded);
  expect(await checkBooks(world.context)).toMatchObject({ broken: 0, breaks: [] });
  // and what is new from then on counts on
  const later = { ...makeShownTransaction(['pending@0', 'paid@1', 'refund@2', 'denied@9'], { platform: 'p' }), id };
  await look(later, 400);
  const after = await describeTransaction(world.context.db, world.context.calendar, id);
  expect(after?.transaction).toMatchObject({ status: 'denied', sequence: 6 });
});

test('what the provider shows in place of an event is booked as it comes, and the old one can go', async () => {
  const { id, look, told } = await takenBack();
  const instead = {
    ...makeShownTransaction(['pending@0', 'paid@1', 'refund@7'], { platform: 'p', commission: '0.50' }),
    id,
  };
  await look(instead, 10);
  await look(instead, 70);
  await acceptMismatch(world.context, (await told())[0]?.id ?? '', by);
  const { postings } = await readLedgerState(world.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id) && key.includes('23:02'))).toEqual([]);
  expect(postings[`${id} Assets:Provider:Available:p @ 2026-11-20 23:07:00`]).toBe(-1000n);
  expect(await checkBooks(world.context)).toMatchObject({ broken: 0, breaks: [] });
});

test('an event that moved no money is gone from the report of its day too: the day is told to have changed', async () => {
  const began = world.context.clock.now().getTime();
  const whole = makeShownTransaction(['pending@0', 'in_analysis@1', 'paid@2'], { platform: 'p' });
  const without = { ...makeShownTransaction(['pending@0', 'paid@2'], { platform: 'p' }), id: whole.id };
  for (const [row, seconds] of [[whole, 0] as const, [without, 10] as const, [without, 70] as const])
    await applyObservations(world.context, [observe(row, new Date(began + seconds * 1000))]);
  await makeReport(world.context, '2026-11-20');
  const told = await readMismatchRows(world.context, 'status_differs');
  await acceptMismatch(world.context, told.find((one) => one.transaction_id === whole.id)?.id ?? '', by);
  expect(await readMismatchRows(world.context, 'closed_day_changed')).toMatchObject([{ state: 'open' }]);
  expect(await checkBooks(world.context)).toMatchObject({ broken: 0 });
});
