import { beforeAll, expect, test, vi } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';

/** What other processes do just before and just after a cut is taken. */
const around = vi.hoisted(() => ({ before: async () => {}, after: async () => {} }));
vi.mock('../../../src/reports/plan/take-cut.ts', async (original) => {
  const { takeCut } = await original<typeof import('../../../src/reports/plan/take-cut.ts')>();
  return {
    takeCut: async (context: Context) => {
      await around.before();
      const cut = await takeCut(context);
      await around.after();
      return cut;
    },
  };
});

const OCTOBER = { month: '2025-10', actor: 'tk_accountant' };
const READ_AT = new Date('2025-12-05T12:00:00Z');
const late = transactionOf('cashin', 20_000n, [['paid', '2025-10-31 10:00:00']]);

const books = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  await applyTransactions(books.context, [transactionOf('cashin', 10_000n, [['paid', '2025-10-10 10:00:00']])]);
  await recordReadDays(books.context, '2025-10-01', '2025-10-30', READ_AT);
});

test('a day that a run proves after the cut is unproven: the cut lacks what the run found', async () => {
  const { context } = books;
  around.after = async () => {
    around.after = async () => {};
    await applyTransactions(context, [late]);
    await recordReadDays(context, '2025-10-31', '2025-10-31', READ_AT);
  };
  await expect(closeMonth(context, OCTOBER)).rejects.toMatchObject({
    refusals: [{ code: 'day_unproven', day: '2025-10-31' }],
  });
  await around.after();
});

test('a mismatch that is raised before the cut keeps the month open, also where the first check did not see it', async () => {
  const { context } = books;
  const found = { kind: 'missing_at_provider' as const, scope: late.id, transactionId: late.id };
  around.before = () =>
    transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now())).then(() => {});
  await expect(closeMonth(context, OCTOBER)).rejects.toMatchObject({ refusals: [{ code: 'mismatch_open' }] });
  around.before = async () => {};
  await transact(context.db, (trx) => resolveMismatches(trx, [found], 'fresh_evidence', context.clock.now()));
  expect(await closeMonth(context, OCTOBER)).toBe(true);
});
