import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkCommissions } from '../../../src/ledger/apply/check-commissions.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import {
  type CommissionContract,
  computeCommission,
  findContract,
} from '../../../src/ledger/journal/read-contracts.ts';
import { stateContract, withdrawContract } from '../../../src/ledger/stated/commission-contracts.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { propertyOptions } from '../../support/property.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

let environment: TestEnvironment;
let seconds = 0;
beforeAll(async () => {
  environment = await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z', SECRET_KEY });
  const stated = { platform: null, operation: 'cashin', from: '2026-11-01', to: null, actor: 'tok_1' } as const;
  await stateContract(environment.context, { ...stated, fixedCents: 10n, basisPoints: 99 });
  await stateContract(environment.context, { ...stated, platform: 'own', fixedCents: 5n, basisPoints: 0 });
});
afterAll(() => environment[Symbol.asyncDispose]());

/** A payment, and what is reported of its commission. */
async function pay(commission: string, more: Partial<ShownTransaction> = {}) {
  const row = makeShownTransaction(['pending@0', 'paid@1'], { amount: '100.50', platform: 'p', commission, ...more });
  await applyObservations(environment.context, [observeNow(environment.context, row, ++seconds)]);
  return { row, reported: await readMismatches(row.id) };
}
const readMismatches = async (id: string) =>
  (await readMismatchRows(environment.context, 'commission_differs')).filter((one) => one.transaction_id === id);

// 0.99 % of 100.50 is 0.99495: with the fixed part 1.09 or 1.10, whichever way it is rounded
test.each(['1.09', '1.10'])('%s is the contract’s, however the provider rounds', async (commission) => {
  expect((await pay(commission)).reported).toEqual([]);
});

test.each(['1.08', '1.11', '0.00'])('%s is not, and is reported once with both sides', async (commission) => {
  const { row, reported } = await pay(commission);
  expect(reported).toMatchObject([
    { severity: 'medium', state: 'open', baseline: false, expected: { commission: '1.09' }, actual: { commission } },
  ]);
  await applyObservations(environment.context, [
    observeNow(environment.context, { ...row, description: 'anew' }, ++seconds),
  ]);
  expect(await readMismatches(row.id)).toHaveLength(1);
  // the books hold it already
  await expect(
    acceptMismatch(environment.context, reported[0]?.id ?? '', { actor: 'a', note: undefined }),
  ).rejects.toThrow(/hold what the provider shows already/);
});

test('a platform’s own contract goes before that of all, and other operations have none', async () => {
  expect((await pay('0.05', { platform: 'own' })).reported).toEqual([]);
  expect((await pay('1.10', { platform: 'own' })).reported).toHaveLength(1);
  expect((await pay('9.99', { operation: 'cashout' })).reported).toEqual([]);
});

test('a commission that arrives later is compared when it arrives', async () => {
  const { commission: _, ...row } = makeShownTransaction(['pending@0', 'paid@1'], {
    amount: '100.50',
    platform: 'p',
    commission: '',
  });
  await applyObservations(environment.context, [observeNow(environment.context, row, ++seconds)]);
  expect(await readMismatches(row.id)).toEqual([]);
  await applyObservations(environment.context, [
    observeNow(environment.context, { ...row, commission: '2.00' }, ++seconds),
  ]);
  expect(await readMismatches(row.id)).toHaveLength(1);
});

test('a check of days that no contract covers says so, and fails', async () => {
  const variables = { DATABASE_URL: environment.context.config.DATABASE_URL ?? '', SECRET_KEY };
  const range = ['--from', '2026-10-01', '--to', '2026-10-31'];
  const { code, out, err } = await runCommandInProcess(['commissions', 'check', ...range], variables);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('no contract covers 2026-10-01 to 2026-10-31');
});

test('a contract for past days is compared with booked payments on request', async () => {
  const { row, reported } = await pay('3.33', { platform: 'late' });
  expect(reported).toHaveLength(1);
  const other = (await pay('1.09', { platform: 'late' })).row;
  const stated = { platform: 'late', operation: 'cashin', from: '2026-11-20', to: '2026-11-20', actor: 'a' } as const;
  const id = await stateContract(environment.context, { ...stated, fixedCents: 333n, basisPoints: 0 });
  const range = { from: '2026-11-20', to: '2026-11-20' };
  await pay('9.99', { platform: 'late', operation: 'cashout' });
  const counted = environment.context.db
    .selectFrom('transactions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .groupBy('operation')
    .orderBy('operation');
  const [payments, uncovered] = (await counted.execute()).map(({ count }) => Number(count));
  expect(await checkCommissions(environment.context, range)).toEqual({ payments, uncovered, raised: 1 });
  expect(await readMismatches(other.id)).toMatchObject([{ expected: { commission: '3.33', contract: id } }]);
  expect((await checkCommissions(environment.context, range)).raised).toBe(0);
  await withdrawContract(environment.context, id);
  await expect(withdrawContract(environment.context, id)).rejects.toMatchObject({ code: 'conflict' });
  expect(await readMismatches(row.id)).toHaveLength(1);
});

const shows = (row: ShownTransaction) =>
  applyObservations(environment.context, [observeNow(environment.context, row, ++seconds)]);
const accept = (id: string | undefined) =>
  acceptMismatch(environment.context, id ?? '', { actor: 'a', note: 'theirs' });

test('a commission that a person accepts is compared with the contract at once', async () => {
  const { row } = await pay('1.09');
  await shows({ ...row, commission: '2.00' });
  const [changed] = await readMismatches(row.id);
  expect(changed).toMatchObject({ state: 'open', expected: { commission: '1.09' }, actual: { commission: '2.00' } });
  await accept(changed?.id);
  const contract = { commission: '1.09', contract: expect.any(String) };
  expect(await readMismatches(row.id)).toMatchObject([
    { id: changed?.id, state: 'open', reopened: 1, expected: contract },
  ]);
  // the books hold it: it is claimed back, or kept with a note, and then it is not reported again
  await expect(accept(changed?.id)).rejects.toThrow(/hold what the provider shows already/);
  await resolveMismatchByHand(environment.context, changed?.id ?? '', { actor: 'a', note: 'claimed back' });
  await shows({ ...row, commission: '2.00', description: 'anew' });
  await checkCommissions(environment.context, { from: '2026-11-20', to: '2026-11-20' });
  expect((await readMismatches(row.id)).map((one) => one.state)).toEqual(['resolved']);
});

test('a commission of the contract is not reported, and an accepted amount has another price', async () => {
  const { row } = await pay('2.00');
  const [wrong] = await readMismatches(row.id);
  await shows({ ...row, commission: '1.10' });
  await accept(wrong?.id);
  expect(await readMismatches(row.id)).toMatchObject([{ state: 'resolved', resolution: 'accepted' }]);
  await shows({ ...row, commission: '1.10', amount: '200.00' });
  const [amount] = (await readMismatchRows(environment.context, 'amount_differs')).filter(
    (one) => one.transaction_id === row.id,
  );
  await accept(amount?.id);
  // 0.99 % of 200.00 and the fixed part
  expect(await readMismatches(row.id)).toMatchObject([
    { state: 'open', amount: '200.00', expected: { commission: '2.08' }, actual: { commission: '1.10' } },
  ]);
});

const amountOf = async (id: string) =>
  (await readMismatchRows(environment.context, 'amount_differs')).find((one) => one.transaction_id === id);
const booksOf = (id: string) =>
  environment.context.db
    .selectFrom('transactions')
    .select(['amount_cents', 'commission_cents'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/** A payment of which the provider then changes both at once. */
async function changeBoth(commission: string) {
  const { row } = await pay('1.09');
  const changed = { ...row, amount: '200.00', commission };
  await shows(changed);
  const [reported] = await readMismatches(row.id);
  expect(reported).toMatchObject({ state: 'open', expected: { commission: '1.09' }, actual: { commission } });
  const amount = await amountOf(row.id);
  return { row, changed, commission: reported?.id, amount: amount?.id };
}

// 0.99 % of 200.00 and the fixed part is 2.08
const claim = { expected: { commission: '2.08', contract: expect.any(String) }, actual: { commission: '2.00' } };
const ends = { '2.00': { state: 'open', amount: '200.00', ...claim }, '2.08': { state: 'resolved' } };
const orders = [
  ['amount', 'commission'],
  ['commission', 'amount'],
] as const;
test.each(orders.flatMap((order) => (['2.00', '2.08'] as const).map((shown) => [...order, shown] as const)))(
  'an accepted %s, and then its %s of %s, leave the same books and what the contract says of them',
  async (first, second, shown) => {
    const { row, ...ids } = await changeBoth(shown);
    await accept(ids[first]);
    await accept(ids[second]);
    expect(await booksOf(row.id)).toEqual({ amount_cents: 20_000n, commission_cents: shown === '2.00' ? 200n : 208n });
    expect(await readMismatches(row.id)).toMatchObject([{ id: ids.commission, ...ends[shown] }]);
  },
);

test('a changed commission that nobody decided yet keeps its evidence, regardless of the contract', async () => {
  const { row, changed, commission, amount } = await changeBoth('2.00');
  const undecided = { id: commission, state: 'open', expected: { commission: '1.09' }, actual: { commission: '2.00' } };
  await accept(amount);
  await checkCommissions(environment.context, { from: '2026-11-20', to: '2026-11-20' });
  const reported = await readMismatches(row.id);
  expect(reported).toMatchObject([undecided]);
  expect(reported[0]?.expected).not.toHaveProperty('contract');
  // shown again as it is booked there is nothing to decide, and then it is the contract that the books differ from
  await shows({ ...changed, commission: '1.09' });
  await checkCommissions(environment.context, { from: '2026-11-20', to: '2026-11-20' });
  const booked = { id: commission, state: 'open', amount: '200.00', ...claim, actual: { commission: '1.09' } };
  expect(await readMismatches(row.id)).toMatchObject([booked]);
});

test('the price lies between the neighbouring cents, and what is shown is one of them', () => {
  const contract: CommissionContract = {
    id: 'cc',
    platform: null,
    operation: 'cashin',
    fixedCents: 0n,
    basisPoints: 0,
    from: '2026-01-01',
    to: null,
  };
  const any = fc.record({
    fixedCents: fc.bigInt(0n, 1000n),
    basisPoints: fc.nat(10_000),
    amount: fc.bigInt(0n, 10n ** 12n),
  });
  fc.assert(
    fc.property(any, ({ fixedCents, basisPoints, amount }) => {
      const { low, high, cents } = computeCommission({ ...contract, fixedCents, basisPoints }, amount);
      const exact = (fixedCents * 10_000n + amount * BigInt(basisPoints)) as bigint;
      expect(low * 10_000n <= exact && exact <= high * 10_000n).toBe(true);
      expect(high - low <= 1n && (cents === low || cents === high)).toBe(true);
    }),
    propertyOptions(100, 10_000),
  );
  const newer = { ...contract, id: 'newer', to: '2026-06-30' };
  const on = (day: string) => findContract([newer, contract], { platform: 'p', operation: 'cashin', day })?.id;
  expect([on('2025-12-31'), on('2026-01-01'), on('2026-06-30'), on('2026-07-01')]).toEqual([
    undefined,
    'newer',
    'newer',
    'cc',
  ]);
});
