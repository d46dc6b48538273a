/** Orders with planted faults of every kind: each pair is right, none is false, each leftover has its right reason. */
import { expect, test } from 'vitest';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { listExpected } from '../../../src/expected/read/list-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { dayOver, makeOrders, PLANTED } from '../../support/make-expected.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, numRuns } from '../../support/property.ts';
import { observeNow } from '../../support/read-ledger-state.ts';

const ORDERS = numRuns(300, 10_000);
const PAGE = 200;

const environment = closeAfterAll(await openEnvironment());

test('every planted order ends as it must, payments and orders in either order', { timeout: 600_000 }, async () => {
  const { context } = environment;
  const seed = chooseSeed(Math.floor(Math.random() * 2 ** 31));
  const day = dayOver(context.calendar.dayOf(context.clock.now()));
  const orders = makeOrders(ORDERS, { seed, day });
  expect(new Set(orders.map(({ fault }) => fault))).toEqual(new Set(PLANTED));
  const pay = () =>
    applyObservations(
      context,
      orders.flatMap(({ payments }) => payments.map((row) => observeNow(context, row))),
    );
  if (seed % 2 === 0) await pay();
  for (let at = 0; at < orders.length; at += PAGE) {
    const arrivals = orders
      .slice(at, at + PAGE)
      .map(({ number, facts }) => ({ source: 'shop', number, facts: expectedFactsSchema.parse(facts) }));
    const outcomes = await putExpected(context, { arrivals, actor: 'test' });
    for (const [index, { id }] of outcomes.entries())
      if (orders[at + index]?.isCancelled) await cancelExpected(context, { id, actor: 'test' });
  }
  if (seed % 2 !== 0) await pay();
  await recordReadDays(context, day, day, context.clock.now());
  await decideAll(context);
  const shown = new Map<string, Awaited<ReturnType<typeof listExpected>>[number]>();
  for (let after: number | undefined, count = PAGE; count === PAGE; ) {
    const rows = await listExpected(context, PAGE, after);
    for (const row of rows) shown.set(row.number, row);
    [count, after] = [rows.length, rows.at(-1)?.seq];
  }
  const found = orders.map(({ number }) => {
    const { state, matches = [], candidates = [] } = shown.get(number) ?? {};
    const ids = (rows: { transaction_id: string }[]): string[] => rows.map((row) => row.transaction_id).sort();
    return { number, state, matches: ids(matches), candidates: ids(candidates) };
  });
  expect(found).toEqual(
    orders.map(({ number, state, matches, candidates }) => ({
      ...{ number, state, matches: matches.toSorted(), candidates: candidates.toSorted() },
    })),
  );
  for (const { reason, reason_code: code, state, candidates } of shown.values()) {
    expect(code === null).toBe(state === 'paid');
    expect(reason === null).toBe(code === null);
    if (state === 'unpaid') expect(code).toBe(candidates.length > 0 ? 'unpaid_candidates' : 'unpaid');
  }
});
