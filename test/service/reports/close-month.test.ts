import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { monthOf } from '../../../src/domain/calendar.ts';
import type { FoundMismatch } from '../../../src/domain/mismatch.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { compareStatements, readNewestStatements, storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { findRefusals, REFUSED_MISMATCHES_MAX } from '../../../src/reports/months/find-refusals.ts';
import { listMonths, readMonth } from '../../../src/reports/months/list-months.ts';
import { MonthRefusedError, type Refusal } from '../../../src/reports/months/refusal.ts';
import { reopenMonth } from '../../../src/reports/months/reopen-month.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import {
  applyTransactions,
  PLATFORM_A,
  recordReadDays,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openBooks, stateBalance } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';

const [SEPTEMBER, OCTOBER, NOVEMBER] = ['2025-09', '2025-10', '2025-11'];
const READ_AT = new Date('2025-12-05T12:00:00Z');
const BY = { actor: 'tk_accountant' };

let books: TestEnvironment;
let context: Context;
beforeEach(async () => {
  books = await openEnvironment();
  ({ context } = books);
});
afterEach(() => books[Symbol.asyncDispose]());

const paid = (day: string, cents = 10_000n) => transactionOf('cashin', cents, [['paid', `${day} 10:00:00`]]);

/** October with a payment, every day of it proven. @returns the payment. */
async function keepOctober() {
  const one = paid('2025-10-10');
  await applyTransactions(context, [one]);
  await recordReadDays(context, '2025-10-01', '2025-10-31', READ_AT);
  await sealNow(context);
  return one;
}

async function refuse(month: string): Promise<Refusal[]> {
  const error = await closeMonth(context, { month, ...BY }).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(MonthRefusedError);
  const { refusals, message } = error as MonthRefusedError;
  expect(message).toContain(`${month} can't be closed`);
  expect(await context.db.selectFrom('month_closes').select('seq').execute()).toEqual([]);
  return refusals;
}

async function raise(...found: FoundMismatch[]): Promise<void> {
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()));
}

describe('closing a month is refused', () => {
  test('while it is running, and before it begins', async () => {
    const running = monthOf(context.calendar.dayOf(context.clock.now()));
    expect(await refuse(running)).toContainEqual({ code: 'month_running', month: running });
    await expect(closeMonth(context, { month: '2099-01', ...BY })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('while nobody has read or counted a day of it after its end, naming each such day', async () => {
    await applyTransactions(context, [paid('2025-10-10')]);
    await recordReadDays(context, '2025-10-01', '2025-10-13', READ_AT);
    await recordReadDays(context, '2025-10-16', '2025-10-31', READ_AT);
    // while the day was running
    await recordReadDays(context, '2025-10-15', '2025-10-15', new Date('2025-10-15T20:00:00Z'));
    await sealNow(context);
    expect(await refuse(OCTOBER)).toEqual([
      { code: 'day_unproven', day: '2025-10-14' },
      { code: 'day_unproven', day: '2025-10-15' },
    ]);
    await recordReadDays(context, '2025-10-14', '2025-10-14', READ_AT);
    const counted = await recordReadDays(context, '2025-10-15', '2025-10-15', READ_AT);
    const run = context.db.selectFrom('runs').select('seq').where('id', '=', counted);
    await context.db.updateTable('run_windows').set({ state: 'counted' }).where('run_seq', '=', run).execute();
    expect(await findRefusals(context, OCTOBER)).toEqual([]);
  });

  test('for a day whose reading began before it had ended for both clocks, unless the previous release closed it', async () => {
    const end = context.calendar.startOfDay('2025-11-01').getTime();
    await applyTransactions(context, [paid('2025-10-10')]);
    await recordReadDays(context, '2025-10-01', '2025-10-30', READ_AT);
    await recordReadDays(context, '2025-10-31', '2025-10-31', new Date(end + 5 * 60_000 - 1));
    expect(await findRefusals(context, OCTOBER)).toEqual([{ code: 'day_unproven', day: '2025-10-31' }]);
    // as the upgrade of a database with closed days writes it
    const value = Buffer.from(new Date(end).toISOString());
    await context.db.insertInto('settings').values({ name: 'clock_leeway_since', value }).execute();
    expect(await findRefusals(await books.replica(), OCTOBER)).toEqual([]);
    await recordReadDays(context, '2025-10-31', '2025-10-31', new Date(end + 5 * 60_000));
    expect(await findRefusals(context, OCTOBER)).toEqual([]);
  });

  test('for a day since the opening of the books, and for those before it whose transactions may move in them', async () => {
    await openBooks(context, {
      ...{ platform: PLATFORM_A, day: '2025-10-15', balanceCents: 70_000n, actor: 'test', newPlatform: true },
    });
    await recordReadDays(context, '2025-10-15', '2025-10-31', READ_AT);
    await sealNow(context);
    const before = { code: 'days_before_unread', from: '2025-07-11', to: '2025-10-14' };
    expect(await findRefusals(context, OCTOBER)).toEqual([before]);
    await recordReadDays(context, before.from, before.to, READ_AT);
    expect(await findRefusals(context, OCTOBER)).toEqual([]);
    expect(await findRefusals(context, SEPTEMBER)).toEqual([{ code: 'before_books', month: SEPTEMBER }]);
    await recordReadDays(context, '2025-11-01', '2025-11-29', READ_AT);
    expect(await findRefusals(context, NOVEMBER)).toContainEqual({ code: 'day_unproven', day: '2025-11-30' });
  });

  test('while a critical mismatch about one of its transactions is open, and not for those of a later month', async () => {
    const one = await keepOctober();
    const other = paid('2025-11-02');
    await applyTransactions(context, [other]);
    const found = (id: string): FoundMismatch => ({ kind: 'missing_at_provider', scope: id, transactionId: id });
    await raise(found(one.id), found(other.id), { kind: 'closed_day_changed', scope: '2025-10-10' });
    const [refusal, ...rest] = await refuse(OCTOBER);
    expect(rest).toEqual([]);
    expect(refusal).toMatchObject({ code: 'mismatch_open', kind: 'missing_at_provider', transactionId: one.id });
    const resolved = { kind: 'missing_at_provider' as const, scope: one.id };
    await transact(context.db, (trx) => resolveMismatches(trx, [resolved], 'fresh_evidence', context.clock.now()));
    expect(await closeMonth(context, { month: OCTOBER, ...BY })).toBe(true);
  });

  test('while a payment that an earlier month began is held, and its mismatch open', async () => {
    await keepOctober();
    const stuck = transactionOf('cashout', 8_000n, [['pending', '2025-09-30 23:59:59']]);
    await applyTransactions(context, [stuck]);
    await raise({ kind: 'stuck', scope: stuck.id, transactionId: stuck.id, severity: 'critical' });
    expect(await refuse(OCTOBER)).toMatchObject([{ code: 'mismatch_open', transactionId: stuck.id }]);
  });

  test('while the books are broken, or a payment of it shares its reference with one of another month', async () => {
    const one = await keepOctober();
    const other = paid('2025-11-02');
    await applyTransactions(context, [other]);
    await raise({ kind: 'books_broken', scope: 'seal 7' });
    const shared = { transactionId: other.id, actual: { ids: [other.id, one.id] } };
    await raise({ kind: 'duplicate_reference', scope: 'pedido-1', ...shared });
    expect((await refuse(OCTOBER)).map((refusal) => 'kind' in refusal && refusal.kind)).toEqual([
      'duplicate_reference',
      'books_broken',
    ]);
  });

  test('with the first hundred mismatches, and the number of the others', async () => {
    const one = await keepOctober();
    const found = Array.from({ length: REFUSED_MISMATCHES_MAX + 3 }, (_, index) => ({
      ...{ kind: 'webhook_contradiction' as const, scope: `w${index}`, transactionId: one.id },
    }));
    await raise(...found);
    const refusals = await refuse(OCTOBER);
    expect(refusals).toHaveLength(REFUSED_MISMATCHES_MAX + 1);
    expect(refusals.at(-1)).toEqual({ code: 'more_mismatches_open', month: OCTOBER, count: 3, earlier: 0 });
  });

  test('while a balance that a person stated is not the ledger’s, its end included', async () => {
    await keepOctober();
    const stated = { platform: PLATFORM_A, actor: 'test', at: context.calendar.startOfDay('2025-11-01') };
    await storeStatement(context, { ...stated, balanceCents: 10_000n });
    expect(await refuse(OCTOBER)).toEqual([
      {
        ...{ code: 'balance_differs', platform: PLATFORM_A, at: '2025-11-01T00:00:00-03:00' },
        ...{ balance: '100.00', ledger: '99.50', difference: '0.50' },
        mismatchId: undefined,
      },
    ]);
    await storeStatement(context, { ...stated, balanceCents: 9_950n });
    expect(await closeMonth(context, { month: OCTOBER, ...BY })).toBe(true);
  });

  test('while a balance of its last instant differs, though something is adjusted on the day that begins then', async () => {
    await keepOctober();
    const stated = { platform: PLATFORM_A, actor: 'test', at: context.calendar.startOfDay('2025-11-01') };
    await stateBalance(context, { ...stated, balanceCents: 10_000n });
    const adjustment = { platform: PLATFORM_A, kind: 'fee', amountCents: 50n, note: 'x', actor: 'test' } as const;
    const late = await adjustBooks(context, { ...adjustment, day: '2025-11-01' });
    await compareStatements(context);
    await sealNow(context);
    const differs = { code: 'balance_differs', balance: '100.00', ledger: '99.50', difference: '0.50' };
    const [{ id: mismatchId } = { id: '' }] = await listMismatches(context, { kind: 'balance_differs', limit: 1 });
    expect(await refuse(OCTOBER)).toMatchObject([{ ...differs, mismatchId }]);
    const open = context.db.selectFrom('mismatches').select('state').where('kind', '=', 'balance_differs');
    expect(await open.execute()).toEqual([{ state: 'open' }]);
    await reverseAdjustment(context, late, { note: 'x', actor: 'test' });
    await adjustBooks(context, { ...adjustment, day: '2025-10-31' });
    await compareStatements(context);
    await sealNow(context);
    expect(await open.execute()).toEqual([{ state: 'resolved' }]);
    expect(await closeMonth(context, { month: OCTOBER, ...BY })).toBe(true);
  });

  test('and not for a balance with a payment of its very second, the month’s end included', async () => {
    await keepOctober();
    await applyTransactions(context, [transactionOf('cashin', 1_000n, [['paid', '2025-11-01 00:00:00']])]);
    const stated = { platform: PLATFORM_A, actor: 'test', at: context.calendar.startOfDay('2025-11-01') };
    for (const balanceCents of [9_950n, 10_900n]) {
      await storeStatement(context, { ...stated, balanceCents });
      expect(await readNewestStatements(context, '2025-11-02 00:00:00')).toMatchObject([{ difference: '0.00' }]);
    }
    await storeStatement(context, { ...stated, balanceCents: 10_901n });
    expect(await refuse(OCTOBER)).toMatchObject([{ code: 'balance_differs', ledger: '99.50' }]);
  });

  test('while a balance of another month differs and none of this one agrees', async () => {
    await keepOctober();
    const evidence = { expected: { balance: '1.00', at: '2025-11-20T10:00:00-03:00' } };
    await raise({
      ...{ kind: 'balance_differs', scope: PLATFORM_A, ...evidence, actual: { ledger: '2.00', difference: '-1.00' } },
    });
    expect(await refuse(OCTOBER)).toMatchObject([{ code: 'balance_differs', ledger: '2.00', difference: '-1.00' }]);
    const at = context.calendar.startOfDay('2025-10-31');
    await storeStatement(context, { platform: PLATFORM_A, actor: 'test', at, balanceCents: 9_950n });
    expect(await findRefusals(context, OCTOBER)).toEqual([]);
  });

  test('while the history below an opening is still being posted', async () => {
    await keepOctober();
    await recordReadDays(context, '2025-06-27', '2025-09-30', READ_AT);
    const opening = { platform: PLATFORM_A, day: '2025-10-01', balanceCents: 0n, actor: 'test' };
    const id = await openBooks(context, opening);
    await context.db.updateTable('openings').set({ reposted_at: null }).execute();
    expect(await refuse(OCTOBER)).toEqual([{ code: 'opening_unfinished', openingId: id, platform: PLATFORM_A }]);
  });

  test('out of order, once a month was closed: any month may be the first', async () => {
    await applyTransactions(context, [paid('2025-07-10'), paid('2025-08-10'), paid('2025-10-10'), paid('2025-12-10')]);
    await recordReadDays(context, '2025-07-01', '2025-12-31', new Date('2026-01-05T12:00:00Z'));
    await sealNow(context);
    expect(await readMonth(context, '2025-08')).toMatchObject({ refusals: [], leavesOpen: '2025-07' });
    expect(await closeMonth(context, { month: '2025-08', ...BY })).toBe(true);
    const before = [{ code: 'earlier_month_open', month: OCTOBER }];
    await expect(closeMonth(context, { month: '2025-12', ...BY })).rejects.toMatchObject({ refusals: before });
    // September has no entries: it may be left out
    expect(await readMonth(context, OCTOBER)).toMatchObject({ refusals: [], leavesOpen: undefined });
    expect(await closeMonth(context, { month: OCTOBER, ...BY })).toBe(true);
    for (const month of ['2025-07', SEPTEMBER]) {
      const later = ['2025-08', OCTOBER].filter((one) => one > month);
      await expect(closeMonth(context, { month, ...BY })).rejects.toMatchObject({
        refusals: later.map((one) => ({ code: 'later_month_closed', month: one })),
      });
    }
  });
});

test('a closed month has its position, its balances and who closed it, and closing it again changes nothing', async () => {
  await keepOctober();
  expect((await listMonths(context)).at(-1)).toMatchObject({ month: OCTOBER, state: 'open' });
  expect(await closeMonth(context, { month: OCTOBER, note: 'conferido', ...BY })).toBe(true);
  const shown = await readMonth(context, OCTOBER);
  const head = await context.db.selectFrom('seals').selectAll().orderBy('position').execute();
  const sealed = head.find((row) => row.position === shown?.close?.position);
  expect(shown?.close?.hash).toEqual(sealed?.hash);
  expect(shown).toMatchObject({ state: 'closed', refusals: [], laterCloses: [] });
  expect(shown?.close).toMatchObject({ actor: BY.actor, note: 'conferido' });
  expect(shown?.balances).toContainEqual({
    ...{ account: `Assets:Provider:Available:${PLATFORM_A}`, openingCents: 0n, closingCents: 9_950n },
  });
  expect(await closeMonth(context, { month: OCTOBER, actor: 'other' })).toBe(false);
  expect((await readMonth(context, OCTOBER))?.changes).toHaveLength(1);
  const audited = await context.db.selectFrom('audit').selectAll().where('action', 'like', 'months.%').execute();
  expect(audited).toMatchObject([{ action: 'months.close', actor: BY.actor, target: OCTOBER }]);
  expect(JSON.parse(audited[0]?.detail ?? '')).toEqual({
    ...{ close: 1, position: shown?.close?.position, hash: sealed?.hash.toString('hex') },
    digest: shown?.close?.digest?.toString('hex'),
  });
});

test('of concurrent closes of one month on two replicas one is stored', async () => {
  await keepOctober();
  const replica = await books.replica();
  const done = await Promise.all(
    [context, replica, context, replica].map((one) => closeMonth(one, { month: OCTOBER, ...BY })),
  );
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(await context.db.selectFrom('month_closes').select(['seq', 'action']).execute()).toEqual([
    { seq: 1, action: 'close' },
  ]);
});

test('a month is reopened with a note, the newest closed one first, and may be closed again', async () => {
  await applyTransactions(context, [paid('2025-09-10'), paid('2025-10-10')]);
  await recordReadDays(context, '2025-09-01', '2025-10-31', READ_AT);
  await expect(reopenMonth(context, { month: SEPTEMBER, note: 'erro', ...BY })).rejects.toMatchObject({
    code: 'conflict',
    message: '2025-09 is not closed',
  });
  for (const month of [SEPTEMBER, OCTOBER]) await closeMonth(context, { month, ...BY });
  await expect(reopenMonth(context, { month: SEPTEMBER, note: 'erro', ...BY })).rejects.toMatchObject({
    refusals: [{ code: 'later_month_closed', month: OCTOBER }],
  });
  expect(await reopenMonth(context, { month: OCTOBER, note: 'faltou um ajuste', ...BY })).toBe(true);
  expect(await reopenMonth(context, { month: OCTOBER, note: 'outra vez', ...BY })).toBe(false);
  await adjustBooks(context, {
    ...{ platform: PLATFORM_A, day: '2025-10-31', kind: 'fee', amountCents: -100n, note: 'tarifa', actor: 'test' },
  });
  expect(await closeMonth(context, { month: OCTOBER, ...BY })).toBe(true);
  const shown = await readMonth(context, OCTOBER);
  expect(shown?.changes.map(({ action, note }) => [action, note])).toEqual([
    ['close', null],
    ['reopen', 'faltou um ajuste'],
    ['close', null],
  ]);
  const available = shown?.balances?.find(({ account }) => account.startsWith('Assets:Provider:Available'));
  expect(available?.closingCents).toBe(2n * 9_950n - 100n);
  const audited = await context.db.selectFrom('audit').select('action').orderBy('seq').execute();
  const actions = audited.map(({ action }) => action).filter((action) => action.startsWith('months.'));
  expect(actions).toEqual(['months.close', 'months.close', 'months.reopen', 'months.close']);
});
