import { beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { type CommissionContract, findContract, readContracts } from '../../../src/ledger/journal/read-contracts.ts';
import { stateContract, withdrawContract } from '../../../src/ledger/stated/commission-contracts.ts';
import { checkCommissions, compareNewCharges, findUncompared } from '../../../src/ledger/stated/compare-charges.ts';
import { readFees, sumDifferences } from '../../../src/ledger/stated/read-fees.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

/** The day on which `makeShownTransaction` pays. */
const DAY = '2026-11-20';
const RANGE = { from: DAY, to: DAY };
const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', SECRET_KEY }));
let seconds = 0;
let later = 0;
beforeAll(async () => {
  await state({ platform: null, fixedCents: 10n, basisPoints: 99 });
});

async function state(more: { platform: string | null; fixedCents: bigint; basisPoints?: number }) {
  const stated = { operation: 'cashin', from: '2026-11-01', to: null, actor: 'tok_1', basisPoints: 0 } as const;
  return await stateContract(environment.context, { ...stated, ...more });
}

/** A payment of 100.50: 0.99 % and 0.10 are 1.09 or 1.10, whichever way they are rounded. */
async function pay(platform: string, commission: string, more: Partial<ShownTransaction> = {}) {
  const row = makeShownTransaction(['pending@0', 'paid@1'], { amount: '100.50', platform, commission, ...more });
  await show(row);
  return row;
}
const show = (row: ShownTransaction) =>
  applyObservations(environment.context, [observeNow(environment.context, row, ++seconds)]);

/** A step of the watch, ten minutes after the one before. */
async function compare() {
  const { context } = environment;
  later += 601_000;
  const now = new Date(context.clock.now().getTime() + later);
  await compareNewCharges({ ...context, clock: { ...context.clock, now: () => now } });
}
async function read(platform: string) {
  const found = await listMismatches(environment.context, { kind: 'commission_not_agreed', limit: 100 });
  return found.filter(({ expected }) => (expected as { platform: string }).platform === platform);
}

test('a day and platform whose charges are not the contract’s has one mismatch with its total', async () => {
  for (const commission of ['1.09', '1.10']) await pay('p', commission);
  // a contract counts from its statement on, its days once they are compared
  expect(await findUncompared(environment.context)).toMatchObject({ from: DAY });
  await compare();
  await compare();
  expect(await findUncompared(environment.context)).toBeUndefined();
  expect(await read('p')).toEqual([]);
  for (const commission of ['2.00', '1.08', '3.00']) await pay('p', commission);
  await pay('p', '9.99', { operation: 'cashout' });
  await compare();
  const total = {
    ...{ severity: 'medium', state: 'open', baseline: false, transaction_id: null, at_stake: '2.81', reopened: 0 },
    expected: { platform: 'p', day: DAY, commission: '3.27' },
    actual: { commission: '6.08', payments: 3, difference: '2.81' },
  };
  expect(await read('p')).toMatchObject([total]);
  await compare();
  await checkCommissions(environment.context, RANGE);
  expect(await read('p')).toMatchObject([total]);
  // nothing is raised for a payment, and nothing where no contract is stated
  expect(await listMismatches(environment.context, { kind: 'commission_differs', limit: 10 })).toEqual([]);
});

test('it follows the charges, and ends once they agree, in either order', async () => {
  const row = await pay('q', '2.00');
  const other = await pay('q', '1.50');
  await compare();
  expect(await read('q')).toMatchObject([{ state: 'open', actual: { payments: 2, difference: '1.32' } }]);
  for (const one of [row, other]) {
    // changed after the payment: a person decides about each payment
    await show({ ...one, commission: '1.09' });
    const [changed] = await listMismatches(environment.context, {
      ...{ kind: 'commission_differs', transactionId: one.id, limit: 10 },
    });
    expect(changed).toMatchObject({ expected: { commission: one.commission }, actual: { commission: '1.09' } });
    await compare();
    expect(await read('q')).toMatchObject([{ state: 'open', actual: { payments: one === row ? 2 : 1 } }]);
    await acceptMismatch(environment.context, changed?.id ?? '', { actor: 'a', note: 'theirs' });
    await compare();
  }
  expect(await read('q')).toMatchObject([{ state: 'resolved', resolution: 'fresh_evidence' }]);
  await pay('q', '0.00');
  await compare();
  expect(await read('q')).toMatchObject([{ state: 'open', reopened: 1, actual: { payments: 1 } }]);
});

test('a contract that is stated or taken back is compared at once, also for past days', async () => {
  await pay('own', '1.09');
  await compare();
  const id = await state({ platform: 'own', fixedCents: 5n });
  const { context } = environment;
  await compareNewCharges(context);
  expect(await findUncompared(context)).toBeUndefined();
  expect(await read('own')).toMatchObject([{ state: 'open', actual: { payments: 1, difference: '1.04' } }]);
  await state({ platform: 'own', fixedCents: 109n });
  await compareNewCharges(context);
  expect(await read('own')).toMatchObject([{ state: 'resolved', reopened: 0 }]);
  await withdrawContract(context, id);
  await expect(withdrawContract(context, id)).rejects.toMatchObject({ code: 'conflict' });
  await compareNewCharges(context);
  expect(await read('own')).toMatchObject([{ state: 'resolved', reopened: 0 }]);
});

test('what a person resolved stays so until the total is another', async () => {
  await pay('kept', '2.00');
  await compare();
  const [open] = await read('kept');
  await resolveMismatchByHand(environment.context, open?.id ?? '', { actor: 'a', note: 'claimed back' });
  await pay('another', '1.09');
  await compare();
  expect(await read('kept')).toMatchObject([{ state: 'resolved', resolution: 'by_hand', reopened: 0 }]);
  await pay('kept', '2.00');
  await compare();
  expect(await read('kept')).toMatchObject([{ state: 'open', reopened: 1, actual: { payments: 2 } }]);
});

test('a commission that arrives later is compared when it arrives', async () => {
  const { commission: _, ...row } = makeShownTransaction(['pending@0', 'paid@1'], {
    ...{ amount: '100.50', platform: 'late', commission: '' },
  });
  await show(row);
  await compare();
  expect(await read('late')).toEqual([]);
  await show({ ...row, commission: '2.00' });
  await compare();
  expect(await read('late')).toMatchObject([{ state: 'open', actual: { payments: 1 } }]);
});

test('what earlier versions raised for each payment ends: its day has the total', async () => {
  const { context } = environment;
  const of = (scope: string, more: object) => ({
    ...{ kind: 'commission_differs' as const, scope, actual: { commission: '2.00' } },
    expected: { commission: '1.09', ...more },
  });
  const found = [of('old', { contract: 'cc_1' }), of('changed', {})];
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()));
  await compareNewCharges(context);
  const rows = await context.db
    .selectFrom('mismatches')
    .select(['scope', 'state'])
    .where('kind', '=', 'commission_differs')
    .where('scope', 'in', ['old', 'changed'])
    .orderBy('scope')
    .execute();
  expect(rows).toEqual([
    { scope: 'changed', state: 'open' },
    { scope: 'old', state: 'resolved' },
  ]);
});

test('a check of days that no contract covers says so, and fails', async () => {
  const variables = { DATABASE_URL: environment.context.config.DATABASE_URL ?? '', SECRET_KEY };
  const range = ['--from', '2026-10-01', '--to', '2026-10-31'];
  const { code, out, err } = await runCommandInProcess(['commissions', 'check', ...range], variables);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('no contract covers 2026-10-01 to 2026-10-31');
});

test('a check compares a range at once, and counts what no contract covers', async () => {
  const { context } = environment;
  await pay('checked', '2.00');
  const counts = await context.db
    .selectFrom('transactions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .groupBy('operation')
    .orderBy('operation')
    .execute();
  const [payments, uncovered] = counts.map(({ count }) => Number(count));
  const range = { from: addDays(DAY, -19), to: addDays(DAY, 9) };
  expect(await checkCommissions(context, range)).toEqual({ payments, uncovered, raised: 1 });
  expect(await checkCommissions(context, range)).toMatchObject({ raised: 0 });
});

test('the newest contract that covers the day applies', () => {
  const contract: CommissionContract = {
    ...{ id: 'cc', platform: null, operation: 'cashin', fixedCents: 0n, basisPoints: 0 },
    ...{ from: '2026-01-01', to: null },
  };
  const newer = { ...contract, id: 'newer', to: '2026-06-30' };
  const on = (day: string) => findContract([newer, contract], { platform: 'p', operation: 'cashin', day })?.id;
  expect([on('2025-12-31'), on('2026-01-01'), on('2026-06-30'), on('2026-07-01')]).toEqual([
    undefined,
    'newer',
    'newer',
    'cc',
  ]);
});

test('a payment whose time became known later, or that is paid twice in its history, is counted once, and any amount has its part', async () => {
  const { db } = environment.context;
  const month = async (of: string) =>
    (await readFees(db, of)).rows
      .filter(({ platform }) => platform === 'once')
      .map((row) => [row.payments, row.charged]);
  const row = makeShownTransaction(['pending@0', 'paid@5', 'paid@9'], { commission: '0.50', platform: 'once' });
  const whole = { ...row, date_created: '2026-10-31 23:00:00' };
  await show({ ...whole, events: [] });
  expect(await month('2026-10')).toEqual([[1, 50n]]);
  await show(whole);
  expect([await month('2026-10'), await month('2026-11')]).toEqual([[], [[1, 50n]]]);
  const days = await sumDifferences(db, await readContracts(db), { from: '2026-10-01', to: '2026-11-30' });
  expect(days.filter(({ platform }) => platform === 'once')).toMatchObject([{ day: DAY, payments: 1, charged: 50n }]);
  await state({ platform: 'whole', fixedCents: 0n, basisPoints: 10_000 });
  await pay('whole', '0.01', { amount: '10000000000000.00' });
  const { rows } = await readFees(db, '2026-11');
  expect(rows.find(({ platform }) => platform === 'whole')?.agreed).toBe(1_000_000_000_000_000n);
});
