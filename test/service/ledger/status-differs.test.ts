import { expect, test } from 'vitest';
import type { Source } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { describeTransaction } from '../../../src/ledger/read/describe-transaction.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, readLedgerState, readMismatchRows } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const LIST: Source = { kind: 'list', run: { seq: 1, id: 'run_1' }, page: 1 };
const by = { actor: 'tok_1', note: 'as they wrote' };

const home = closeAfterAll(temporaryDirectory());
const environment = closeAfterAll(
  await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', DATA_DIR: home.path }),
);

/** A refund that the provider takes back, and observations at it this many seconds after the first one. */
async function takenBack(more: Partial<ShownTransaction> = {}) {
  const began = environment.context.clock.now().getTime();
  const whole = makeShownTransaction(['pending@0', 'paid@1', 'refund@2'], {
    platform: 'p',
    commission: '0.50',
    ...more,
  });
  const without = {
    ...makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50', ...more }),
    id: whole.id,
  };
  const applyRow = async (row: ShownTransaction, seconds: number, source: Source = { kind: 'show' }) => {
    const { raised } = await applyObservations(environment.context, [
      observe(row, new Date(began + seconds * 1000), source),
    ]);
    return raised.map((found) => found.kind);
  };
  const reported = async () =>
    (await readMismatchRows(environment.context, 'status_differs')).filter((one) => one.transaction_id === whole.id);
  const refunded = async () =>
    (await describeTransaction(environment.context.db, environment.context.calendar, whole.id))?.transaction.status ===
    'refund';
  const due = async () => {
    const rows = await environment.context.db
      .selectFrom('doubted_events')
      .select('due_at')
      .where('transaction_id', '=', whole.id)
      .execute();
    return rows.map((row) => row.due_at && Math.round((row.due_at.getTime() - began) / 1000));
  };
  await applyRow(whole, 0);
  return { id: whole.id, whole, without, applyRow, reported, due, refunded };
}

test('an event that two shows a minute apart lack is reported once, with what both sides have', async () => {
  const { id, without, applyRow, reported, due } = await takenBack();
  expect(await applyRow(without, 10)).toEqual([]);
  expect(await due(), 'asked for again a minute later').toEqual([70]);
  expect(await applyRow(without, 69)).toEqual([]);
  expect(await applyRow(without, 70)).toEqual(['status_differs']);
  expect(await applyRow(without, 200)).toEqual([]);
  expect(await due()).toEqual([null]);
  expect(await reported()).toMatchObject([
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

test('lists that lack an event never prove it, and schedule a show at once', async () => {
  const { without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10, LIST);
  const [at] = await due();
  expect(at).toBeLessThanOrEqual(5);
  await applyRow(without, 100, LIST);
  await applyRow(without, 200, LIST);
  await applyRow(without, 201);
  expect(await reported()).toEqual([]);
  await applyRow(without, 261);
  expect(await reported()).toHaveLength(1);
});

test('an observation in between that shows the event restarts the proof, from a list too', async () => {
  const { whole, without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10);
  await applyRow(whole, 40, LIST);
  expect(await due()).toEqual([]);
  await applyRow(without, 75);
  expect(await reported()).toEqual([]);
  await applyRow(without, 136);
  expect(await reported()).toHaveLength(1);
});

test('older observations and observations without a history prove nothing', async () => {
  const { without, applyRow, due } = await takenBack();
  await applyRow(without, -10);
  await applyRow({ ...without, events: [] }, 20);
  expect(await due()).toEqual([]);
});

test('a later show that has it again ends it; a list has it asked for', async () => {
  const { whole, without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10);
  await applyRow(without, 70);
  await applyRow(whole, 80, LIST);
  expect(await reported()).toMatchObject([{ state: 'open' }]);
  expect(await due()).not.toEqual([null]);
  await applyRow(whole, 90);
  expect(await reported()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  expect(await due()).toEqual([]);
  await applyRow(without, 100);
  await applyRow(without, 160);
  expect(await reported()).toMatchObject([{ state: 'open', reopened: 1 }]);
});

test('only a show resolves what shows reported, however many lists deny it before', async () => {
  const { whole, without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10);
  await applyRow(without, 70);
  await applyRow(whole, 80, LIST);
  await applyRow({ ...whole, description: 'seen anew' }, 85, LIST);
  expect(await due(), 'a show is still asked for').toHaveLength(1);
  await applyRow(whole, 90);
  expect(await reported()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('lists that deny a difference do not resolve what a show reports again', async () => {
  const { whole, without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10);
  await applyRow(without, 70);
  await applyRow(whole, 80, LIST);
  await applyRow(without, 90);
  expect(await reported()).toMatchObject([{ state: 'open' }]);
  expect(await due(), 'reported already').toEqual([null]);
  await applyRow(whole, 100);
  expect(await reported()).toMatchObject([{ state: 'resolved' }]);
});

test('a show that has it again ends it, though a list of the same batch lacks it after', async () => {
  const { whole, without, applyRow, reported, due } = await takenBack();
  await applyRow(without, 10);
  await applyRow(without, 70);
  const at = (seconds: number) => new Date(environment.context.clock.now().getTime() + seconds * 1000);
  await applyObservations(environment.context, [observe(whole, at(100)), observe(without, at(101), LIST)]);
  expect(await reported()).toMatchObject([{ state: 'resolved' }]);
  expect(await due()).toHaveLength(1);
  await applyRow(whole, 200, LIST);
  expect(await due()).toEqual([]);
});

test('a status that was booked from a row without a history, and that later histories lack, is reported', async () => {
  const { id, without, applyRow, reported, refunded } = await takenBack({ status: 'refund', events: [] });
  expect(await refunded()).toBe(true);
  const [plain] = [without];
  const history = makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50' });
  const later = { ...plain, events: history.events, status: 'paid' };
  await applyRow(later, 10);
  expect(await reported()).toEqual([]);
  await applyRow(later, 70);
  expect(await reported()).toMatchObject([
    { state: 'open', expected: { status: 'refund' }, actual: { status: 'paid', lacks: [{ status: 'refund' }] } },
  ]);
  await acceptMismatch(environment.context, (await reported())[0]?.id ?? '', by);
  expect(await refunded(), 'accepted, it is none').toBe(false);
  expect(
    (await describeTransaction(environment.context.db, environment.context.calendar, id))?.transaction.status,
  ).toBe('paid');
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0 });
});

test('a status on the way that a history lacks and goes beyond is no contradiction', async () => {
  const { id, applyRow, reported } = await takenBack({ status: 'in_process', events: [] });
  const later = { ...makeShownTransaction(['pending@0', 'paid@1'], { platform: 'p', commission: '0.50' }), id };
  await applyRow(later, 10);
  await applyRow(later, 80);
  expect(await reported()).toEqual([]);
});

test('rows without histories with an earlier status than ours are reported until one agrees', async () => {
  const { applyRow, reported, whole } = await takenBack({ status: 'paid', events: [] });
  const bare = (status: string) => ({ ...whole, status, events: [] });
  await applyRow(bare('pending'), 10);
  await applyRow(bare('pending'), 40, LIST);
  expect(await reported()).toEqual([]);
  await applyRow(bare('pending'), 70);
  expect(await reported()).toMatchObject([
    { state: 'open', expected: { status: 'paid' }, actual: { status: 'pending' } },
  ]);
  await applyRow(bare('paid'), 80);
  expect(await reported()).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
});

test('where a row without a history falls back, a person can have the books follow it', async () => {
  const { id, applyRow, reported, whole } = await takenBack({ status: 'paid', events: [] });
  const bare = { ...whole, status: 'pending', events: [] };
  await applyRow(bare, 10);
  await applyRow(bare, 70);
  const [mismatch] = await reported();
  expect(mismatch).toMatchObject({ state: 'open', actual: { status: 'pending', lacks: [{ status: 'paid' }] } });
  await acceptMismatch(environment.context, mismatch?.id ?? '', by);
  const after = await describeTransaction(environment.context.db, environment.context.calendar, id);
  expect(after?.transaction.status).toBe('pending');
  const { postings } = await readLedgerState(environment.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id))).toEqual([]);
  await applyRow(bare, 150);
  expect(await reported()).toMatchObject([{ state: 'resolved' }]);
});

test('a status known only from rows without a history can be taken out of force if the history lacks it', async () => {
  const { id, applyRow, reported, whole } = await takenBack({ status: 'paid', events: [] });
  const beside = { ...makeShownTransaction(['pending@0'], { platform: 'p', commission: '0.50' }), id, status: 'paid' };
  await applyRow(beside, 10);
  await applyRow(beside, 70);
  const [mismatch] = await reported();
  expect(mismatch?.actual).toMatchObject({ status: 'paid', history: ['pending'], lacks: [{ status: 'paid' }] });
  await acceptMismatch(environment.context, mismatch?.id ?? '', by);
  const { postings } = await readLedgerState(environment.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id))).toEqual([]);
  expect(whole.id).toBe(id);
});

test('a difference that a show completes is reported, though a list stands behind it in the batch', async () => {
  const { without, applyRow, reported, whole } = await takenBack();
  await applyRow(without, 10);
  const at = (seconds: number) => new Date(environment.context.clock.now().getTime() + seconds * 1000);
  await applyObservations(environment.context, [observe(without, at(100)), observe(without, at(101), LIST)]);
  expect(await reported()).toMatchObject([{ state: 'open' }]);
  await applyRow(whole, 300);
  expect(await reported()).toMatchObject([{ state: 'resolved' }]);
});

test('a difference that a person resolved is not reported again for the same evidence', async () => {
  const { id, without, applyRow, reported } = await takenBack();
  await applyRow(without, 10);
  await applyRow(without, 70);
  await resolveMismatchByHand(environment.context, (await reported())[0]?.id ?? '', by);
  await applyRow(without, 200);
  await applyRow({ ...without, description: 'seen anew' }, 300);
  expect(await reported()).toMatchObject([{ state: 'resolved', resolution: 'by_hand' }]);
  const story = await describeTransaction(environment.context.db, environment.context.calendar, id);
  expect(story?.transaction.status).toBe('refund');
});

test('accepted, the event is in force no more, its entry is reversed, and merchants are reported; shown again, it is news', async () => {
  const { merchant } = await createMerchant(environment.context, {
    name: 'shop',
    url: 'https://shop.example/hook',
    eventsSince: new Date(0),
  });
  const { id, whole, without, applyRow, reported } = await takenBack();
  const ours = async () =>
    Object.fromEntries(
      Object.entries((await readLedgerState(environment.context)).postings).filter(([key]) => key.startsWith(id)),
    );
  const refunded = await ours();
  await applyRow(without, 10);
  await applyRow(without, 70);
  await acceptMismatch(environment.context, (await reported())[0]?.id ?? '', by);
  expect(await ours()).toEqual({
    [`${id} Assets:Provider:Available:p @ 2026-11-20 23:01:00`]: 950n,
    [`${id} Expenses:Commission:Cashin:p @ 2026-11-20 23:01:00`]: 50n,
    [`${id} Liabilities:Receipts:p @ 2026-11-20 23:01:00`]: -1000n,
  });
  const story = await describeTransaction(environment.context.db, environment.context.calendar, id);
  expect(story?.transaction).toMatchObject({ status: 'paid', sequence: 4 });
  expect(story?.events.map((event) => [event.status, event.in_force])).toEqual([
    ['refund', false],
    ['paid', true],
    ['pending', true],
  ]);
  const callbacks = await environment.context.db
    .selectFrom('callbacks')
    .select(['type', 'sequence', 'previous_status'])
    .where('merchant_seq', '=', merchant.seq)
    .orderBy('seq', 'desc')
    .execute();
  expect(callbacks[0]).toEqual({ type: 'pix.cashin.corrected', sequence: 4, previous_status: 'refund' });
  await applyRow(without, 200);
  expect(await reported()).toMatchObject([{ state: 'resolved', resolution: 'accepted' }]);

  await applyRow(whole, 210);
  expect(await reported()).toMatchObject([
    { state: 'open', reopened: 1, expected: { status: 'paid' }, actual: { status: 'refund', lacks: [] } },
  ]);
  await acceptMismatch(environment.context, (await reported())[0]?.id ?? '', by);
  expect(await ours()).toEqual(refunded);
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
  // and what is new from then on counts on
  const later = { ...makeShownTransaction(['pending@0', 'paid@1', 'refund@2', 'denied@9'], { platform: 'p' }), id };
  await applyRow(later, 400);
  const after = await describeTransaction(environment.context.db, environment.context.calendar, id);
  expect(after?.transaction).toMatchObject({ status: 'denied', sequence: 6 });
});

test('what the provider shows in place of an event is booked as it comes, and the old one can go', async () => {
  const { id, applyRow, reported } = await takenBack();
  const instead = {
    ...makeShownTransaction(['pending@0', 'paid@1', 'refund@7'], { platform: 'p', commission: '0.50' }),
    id,
  };
  await applyRow(instead, 10);
  await applyRow(instead, 70);
  await acceptMismatch(environment.context, (await reported())[0]?.id ?? '', by);
  const { postings } = await readLedgerState(environment.context);
  expect(Object.keys(postings).filter((key) => key.startsWith(id) && key.includes('23:02'))).toEqual([]);
  expect(postings[`${id} Assets:Provider:Available:p @ 2026-11-20 23:07:00`]).toBe(-1000n);
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0, breaks: [] });
});

test('an event without money leaves the report of its day too: the day is reported as changed', async () => {
  const began = environment.context.clock.now().getTime();
  const whole = makeShownTransaction(['pending@0', 'in_analysis@1', 'paid@2'], { platform: 'p' });
  const without = { ...makeShownTransaction(['pending@0', 'paid@2'], { platform: 'p' }), id: whole.id };
  for (const [row, seconds] of [[whole, 0] as const, [without, 10] as const, [without, 70] as const])
    await applyObservations(environment.context, [observe(row, new Date(began + seconds * 1000))]);
  await makeReport(environment.context, '2026-11-20');
  const reported = await readMismatchRows(environment.context, 'status_differs');
  await acceptMismatch(environment.context, reported.find((one) => one.transaction_id === whole.id)?.id ?? '', by);
  expect(await readMismatchRows(environment.context, 'closed_day_changed')).toMatchObject([{ state: 'open' }]);
  expect(await checkBooks(environment.context)).toMatchObject({ broken: 0 });
});
