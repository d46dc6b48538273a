import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDay, type ProviderRow } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const DAY = '2026-11-20';

let env: ReconciliationEnvironment;
beforeEach(async () => {
  env = await openReconciliationEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
});
afterEach(() => env[Symbol.asyncDispose]());

/** Answers list pages as the provider does, after a change of their JSON. */
function rewriteLists(rows: ProviderRow[], change: (text: string) => string): void {
  env.provider.add(...rows);
  env.provider.switches.fault = ({ kind, page }) => {
    if (kind !== 'list') return undefined;
    const shown = page > 1 ? [] : [...env.provider.rows.values()];
    return { text: change(JSON.stringify({ transactions: shown, total: rows.length, last_page: 1 })) };
  };
}
const read = () => env.context.db.selectFrom('transactions').select(['reference', 'extra', 'status']).orderBy('id');

test('a page whose transactions are an object with integer names is a list, and its day is proven', async () => {
  const rows = makeDay(DAY, 3, { history: ['paid'] });
  rewriteLists(rows, (text) => {
    const { transactions, ...rest } = JSON.parse(text) as { transactions: unknown[] };
    const [a, b, c] = transactions;
    return JSON.stringify({ transactions: a ? { 0: a, 4: b, 11: c } : [], ...rest });
  });
  expect(await env.reconcile(DAY, DAY)).toMatchObject({ state: 'complete' });
  expect((await env.ids()).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
});

test('an object with a name that is no integer is no list: nothing is concluded', async () => {
  rewriteLists(makeDay(DAY, 1), (text) =>
    text.replace(/"transactions":\[(.*)\],"total"/, '"transactions":{"0":$1,"x":1},"total"'),
  );
  const run = env.reconcile(DAY, DAY);
  const settled = await advance(run);
  expect(settled).not.toMatchObject({ state: 'complete' });
  expect(await env.ids()).toEqual([]);
});

test('references beyond 2^53 are two references, and totals with decimals are totals', async () => {
  const rows = makeDay(DAY, 2, { history: ['paid'] }).map((row, index) => ({ ...row, reference: `@${index + 1}` }));
  rewriteLists(rows, (text) =>
    text
      .replace('"@1"', '12345678901234567891')
      .replace('"@2"', '12345678901234567892')
      .replace(/"total":(\d+)/, '"total":$1.0'),
  );
  expect(await env.reconcile(DAY, DAY)).toMatchObject({ state: 'complete' });
  const references = (await read().execute()).map(({ reference }) => reference);
  expect(new Set(references)).toEqual(new Set(['12345678901234567891', '12345678901234567892']));
  expect(await env.mismatches('duplicate_reference')).toEqual([]);
});

test('extras that are objects or lists are booked as JSON, with one mismatch for all rows and runs', async () => {
  const extras: unknown[] = [{ order: 1042, loja: 'sp' }, ['1042'], { loja: 'rj', order: 7 }];
  const rows = makeDay(DAY, 3, { history: ['paid'] }).map((row, index) => ({ ...row, extra: extras[index] }));
  env.provider.add(...rows);
  await env.reconcile(DAY, DAY);
  const held = (await read().execute()).map(({ extra }) => extra);
  expect(new Set(held)).toEqual(new Set(['["1042"]', '{"loja":"rj","order":7}', '{"loja":"sp","order":1042}']));
  env.provider.add(...makeDay(DAY, 1, { id: 'another', extra: { order: 8 } }));
  await env.reconcile(DAY, DAY);
  expect(await env.mismatches('field_unreadable')).toMatchObject([{ state: 'open', severity: 'medium', reopened: 0 }]);
  expect(await env.ids()).toHaveLength(4);
});

/** Lets back-off pass. */
async function advance<T>(work: Promise<T>): Promise<T | undefined> {
  let isDone = false;
  const ended = work
    .catch(() => undefined)
    .finally(() => {
      isDone = true;
    });
  while (!isDone) {
    await env.timers.advance(10_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return await ended;
}
