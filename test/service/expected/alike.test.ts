/** Hints for an unpaid order are found among many rows that are none. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOne, payOne } from '../../support/expect-orders.ts';
import { keyOfInvoice } from '../../support/make-invoice.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

/** More than are read of one kind. */
const MANY = 60;

const env = closeAfterAll(await openApiEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));

async function hintsOf(number: string, facts: object): Promise<unknown> {
  await expectOne(env.context, { due_day: '2026-12-20', ...facts }, number);
  await decideAll(env.context);
  return (await env.call('GET', `/expected-payments/shop/${number}`)).json.alike;
}

/** Applies rows that are shown once, with `more` of each. */
async function applyMany(history: string[], more: (index: number) => object): Promise<void> {
  const rows = Array.from({ length: MANY }, (_, index) =>
    makeShownTransaction(history, { id: randomUUID(), ...more(index) }),
  );
  await applyObservations(
    env.context,
    rows.map((row) => observeNow(env.context, row)),
  );
}

it('a payment is found behind newer charges of its amount that nobody paid', async () => {
  await payOne(env.context, { reference: 'w-1', amount: '41.00' });
  await applyMany(['pending@1'], () => ({ amount: '41.00', date_created: '2026-11-20 23:00:00' }));
  expect(await hintsOf('n-1', { amount: '41.00' })).toMatchObject([{ alike: 'amount', reference: 'w-1' }]);
});

it('the payment of a customer is found behind the older ones of equal amount', async () => {
  const own = { amount: '42.00', document: '52998224725' };
  await applyMany(['pending@1', 'paid@2'], (index) => ({
    ...own,
    date_created: `2026-0${1 + (index % 9)}-10 10:00:00`,
  }));
  await payOne(env.context, { ...own, reference: 'w-2' });
  // the payment is another order's
  await hintsOf('taken', { amount: '42.00', references: ['w-2'] });
  expect(await hintsOf('n-2', own)).toMatchObject([{ alike: 'document', matched: true, order: { number: 'taken' } }]);
});

it('the list finds unpaid orders of whose amount a payment counts for none, and no other', async () => {
  const own = { due_day: '2026-12-20', amount: '43.00' };
  for (const [number, more] of Object.entries({ 'l-alike': own, 'l-other': { ...own, amount: '44.00' } }))
    await expectOne(env.context, more, number);
  await expectOne(env.context, { ...own, references: ['w-4'] }, 'l-paid');
  await payOne(env.context, { reference: 'w-4', amount: '43.00' });
  const list = async () => {
    await decideAll(env.context);
    const { json } = await env.call('GET', '/expected-payments?alike=true&due_from=2026-12-20');
    return (json.expected_payments as { number: string }[])
      .map(({ number }) => number)
      .filter((one) => one.startsWith('l-'));
  };
  // its payment counts for another
  expect(await list()).toEqual([]);
  await payOne(env.context, { reference: 'w-5', amount: '43.00', date_created: '2026-11-09 23:59:59' }, [
    'pending@1',
    'paid@2',
  ]);
  expect(await list()).toEqual([]);
  await payOne(env.context, { reference: 'w-6', amount: '43.00' });
  expect(await list()).toEqual(['l-alike']);
});

it('a payment with the key of an order of another platform is a hint, by reference and by E2E id', async () => {
  const { context } = env;
  const [here, there] = [randomUUID(), randomUUID()];
  const e2e = 'E00000000202611201405EFGHIJKLMNO';
  await payOne(context, { platform: there, reference: 'p-1', amount: '51.00' });
  await payOne(context, { platform: there, reference: 'p-none', amount: '52.00', e2e_id: e2e });
  await payOne(context, { platform: here, reference: 'p-here', amount: '1.00' });
  const own = { due_day: '2026-12-22', platform: here };
  const hint = { alike: 'platform', platform: there, matched: false };
  expect(await hintsOf('p-1', { ...own, amount: '51.00', references: ['p-1'] })).toMatchObject([hint]);
  expect(await hintsOf('p-2', { ...own, amount: '59.00', e2e_ids: [e2e] })).toMatchObject([hint]);
  await payOne(context, { platform: '', reference: 'p-4', amount: '53.00' });
  expect(await hintsOf('p-4', { ...own, amount: '53.00', references: ['p-4'] })).toMatchObject([
    { ...hint, platform: null },
  ]);
  // an equal amount elsewhere says nothing
  expect(await hintsOf('p-3', { ...own, amount: '51.00', references: ['p-3'] })).toEqual([]);
  const unpaid = context.db.updateTable('expected_payments').set({ state: 'unpaid' });
  await unpaid.where('due_day', '=', own.due_day).execute();
  const list = async (filter: string) => {
    const { json } = await env.call('GET', `/expected-payments?${filter}=true&due_from=2026-12-22&due_to=2026-12-22`);
    return (json.expected_payments as { number: string }[]).map(({ number }) => number).sort();
  };
  expect([await list('alike'), await list('chargeable')]).toEqual([['p-1', 'p-2', 'p-4'], ['p-3']]);
});

it('the list for collection has unpaid orders alone, and none that a known payment may be of', async () => {
  const { context } = env;
  const due = { due_day: '2026-12-21' };
  const orders = {
    'c-free': { amount: '45.00', references: ['c-1'] },
    'c-open': { amount: '45.00', references: ['c-2'] },
    'c-alike': { amount: '46.00', references: ['c-3'] },
    'c-disputed': { amount: '47.00', references: ['c-4'] },
    'c-rival': { amount: '47.00', references: ['c-4'] },
    'c-keyless': { amount: '48.00' },
    'c-unseen': { amount: '49.00', references: ['c-5'], platform: randomUUID() },
    'c-invoice': { amount: '45.00', invoice_key: keyOfInvoice() },
  };
  for (const [number, facts] of Object.entries(orders)) await expectOne(context, { ...due, ...facts }, number);
  await payOne(context, { reference: 'c-none', amount: '46.00' });
  await payOne(context, { reference: 'c-4', amount: '47.00' });
  await decideAll(context);
  const unpaid = context.db.updateTable('expected_payments').set({ state: 'unpaid' });
  await unpaid.where('due_day', '=', due.due_day).where('number', '<>', 'c-open').execute();
  const { json } = await env.call('GET', '/expected-payments?chargeable=true&due_from=2026-12-21&due_to=2026-12-21');
  const found = (json.expected_payments as { number: string }[]).map(({ number }) => number);
  expect(found.sort()).toEqual(['c-free', 'c-invoice']);
});
