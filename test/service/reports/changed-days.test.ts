import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { previewChange } from '../../../src/ledger/read/preview-change.ts';
import { adjustBooks, reverseAdjustment } from '../../../src/ledger/stated/adjust-books.ts';
import { compareStatements, storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { listReportDays } from '../../../src/reports/serve/list-report-days.ts';
import {
  applyTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openBooks as openPlatform, reverseOpening } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readRows } from '../../support/read-rows.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const DAY = '2026-03-11';
const UNREPORTED = '2026-03-10';
const BY = { note: 'n', actor: 'test' };
const adjustmentOf = (day: string) => ({ platform: PLATFORM_A, day, kind: 'fee', amountCents: -100n, ...BY }) as const;

async function listChanges({ db }: Context): Promise<string[]> {
  const rows = await readRows(db, 'mismatches', ['scope', 'state'], { kind: 'closed_day_changed' }, ['scope']);
  return rows.map((row) => `${row.scope} ${row.state}`);
}

test('an adjustment or opening in a reported day, or its reversal, raises closed_day_changed until the next revision', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await makeReport(context, DAY);
  let revision = 1;
  const raises = async <T>(act: () => Promise<T>): Promise<T> => {
    const entered = await act();
    expect(await listChanges(context)).toEqual([`${DAY} open`]);
    expect((await makeReport(context, DAY)).report).toMatchObject({ revision: ++revision });
    expect(await listChanges(context)).toEqual([`${DAY} resolved`]);
    return entered;
  };
  const adjustment = await raises(() => adjustBooks(context, adjustmentOf(DAY)));
  await raises(() => reverseAdjustment(context, adjustment, BY));
  const opening = { platform: PLATFORM_A, day: DAY, balanceCents: 1_000n, actor: 'test' };
  const id = await raises(() => openPlatform(context, opening));
  await raises(() => reverseOpening(context, id));
  const alerts = await context.db.selectFrom('alerts').select('name').execute();
  expect(new Set(alerts.map((one) => one.name))).toEqual(new Set(['closed_day_changed']));
});

test('an entry in a day without a report raises no mismatch', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await makeReport(context, DAY);
  await adjustBooks(context, adjustmentOf(UNREPORTED));
  expect(await listChanges(context)).toEqual([]);
});

test('an opening raises closed_day_changed once for each earlier day, for any number of payments', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const days = ['2026-03-11', '2026-03-12', '2026-03-13'] as const;
  // more than one batch to repost
  const payments = Array.from({ length: 450 }, (_, nth) =>
    transactionOf('cashin', 100n, [['paid', `${days[nth % 3]} 10:00:00`]]),
  );
  await applyTransactions(context, payments);
  for (const day of [...days, UNREPORTED]) await makeReport(context, day);
  await openPlatform(context, { platform: PLATFORM_A, day: days[2], balanceCents: 1_000n, actor: 'test' });
  // its own day too, where it is a movement
  expect(await listChanges(context)).toEqual(days.map((day) => `${day} open`));
  expect(await context.db.selectFrom('mismatch_changes').select('seq').execute()).toHaveLength(3);
});

test('an opening that reverses an adjustment, and its own reversal, raise closed_day_changed for the day of the adjustment', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await adjustBooks(context, adjustmentOf(DAY));
  await makeReport(context, DAY);
  const opening = { platform: PLATFORM_A, day: '2026-03-13', balanceCents: 1_000n, actor: 'test' };
  const id = await openPlatform(context, opening);
  expect(await listChanges(context)).toEqual([`${DAY} open`]);
  await makeReport(context, DAY);
  expect(await listChanges(context)).toEqual([`${DAY} resolved`]);
  await reverseOpening(context, id);
  expect(await listChanges(context)).toEqual([`${DAY} open`]);
});

test('an adjustment succeeds while another transaction raises closed_day_changed for its day, and so does its reversal', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await makeReport(context, DAY);
  const id = await adjustBooks(context, adjustmentOf(UNREPORTED));
  const before = await adjustBooks(context, adjustmentOf('2026-03-09'));
  await makeReport(context, '2026-03-09');
  const acts = [
    { day: DAY, act: () => adjustBooks(context, adjustmentOf(DAY)) },
    { day: '2026-03-09', act: () => reverseAdjustment(context, before, BY) },
  ];
  for (const { day, act } of acts) {
    let entered: Promise<unknown> = Promise.resolve();
    await transact(context.db, async (trx) => {
      const found = { kind: 'closed_day_changed' as const, scope: day };
      await raiseMismatches(trx, [found], context.clock.now());
      entered = act();
      await waitForLockWaits(context);
    });
    await entered;
  }
  expect(await listChanges(context)).toEqual(['2026-03-09 open', `${DAY} open`]);
  await reverseAdjustment(context, id, BY);
  await expect(reverseAdjustment(context, id, BY)).rejects.toThrow('it is reversed already');
});

test('an entry changes the later reported days too, whose balances differ, until each has its next revision', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const days = ['2026-03-11', '2026-03-12', '2026-03-13'];
  const range = { from: UNREPORTED, to: '2026-03-13' };
  const listChanged = async (platform?: string): Promise<string[]> =>
    (await listReportDays(context, { ...range, platform })).flatMap(({ day, state }) =>
      state === 'changed' ? [day] : [],
    );
  const adjust = (day: string) => (inner: Context) => adjustBooks(inner, adjustmentOf(day));
  await applyTransactions(context, [
    transactionOf('cashin', 100n, [['paid', `${UNREPORTED} 10:00:00`]]),
    transactionOf('cashin', 100n, [['paid', `${UNREPORTED} 10:00:00`]], { platform: PLATFORM_B }),
  ]);
  for (const day of days) await makeReport(context, day);
  expect(await listChanged()).toEqual([]);
  // of a day without a report, and of a reported one
  for (const day of [UNREPORTED, DAY]) {
    expect((await previewChange(context, adjust(day))).days).toEqual(days);
    await adjust(day)(context);
    for (const platform of [undefined, PLATFORM_A, PLATFORM_B]) expect(await listChanged(platform)).toEqual(days);
    for (const [nth, made] of days.entries()) {
      await makeReport(context, made);
      expect(await listChanged()).toEqual(days.slice(nth + 1));
    }
    const shown = await listReportDays(context, { from: DAY, to: range.to });
    for (const [nth, { figures, ledger }] of shown.entries()) {
      expect(figures?.closing).toBe(ledger.closing);
      if (nth > 0) expect(figures?.opening).toBe(shown[nth - 1]?.figures?.closing);
    }
  }
  const { days: none } = await previewChange(context, async (inner) => {
    const id = await adjustBooks(inner, adjustmentOf(UNREPORTED));
    await reverseAdjustment(inner, id, BY);
  });
  expect(none).toEqual([]);
});

test('a preview names the mismatches that its change then opens, and none that is open already', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await makeReport(context, DAY);
  await recordReadDays(context, DAY, DAY, context.clock.now());
  const at = context.calendar.toInstant(`${DAY} 12:00:00`);
  await storeStatement(context, { platform: PLATFORM_A, at, balanceCents: 0n, actor: 'test', newPlatform: true });
  await compareStatements(context);
  const adjust = (inner: Context) => adjustBooks(inner, adjustmentOf(DAY));
  const { opened } = await previewChange(context, adjust);
  expect(opened.map(({ kind, scope }) => `${kind} ${scope}`).sort()).toEqual([
    `balance_differs ${PLATFORM_A}`,
    `closed_day_changed ${DAY}`,
  ]);
  expect(await context.db.selectFrom('mismatches').select('seq').execute()).toEqual([]);
  await adjust(context);
  await compareStatements(context);
  const rows = await readRows(context.db, 'mismatches', ['kind', 'scope'], { state: 'open' }, ['kind']);
  expect(rows.map(({ kind, scope }) => ({ kind, scope }))).toEqual(
    opened.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
  );
  expect((await previewChange(context, adjust)).opened).toEqual([]);
});
