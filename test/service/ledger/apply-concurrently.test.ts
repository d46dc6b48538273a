import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import type { Observation } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { anyTimeline, observeTimeline } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { chooseSeed, numRuns } from '../../support/property.ts';
import {
  makeShownTransaction,
  observeNow,
  readLedgerState,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';

const TRANSACTIONS = numRuns(40, 500);
const APPLIERS = 6;

let many: TestEnvironment;
let one: TestEnvironment;
beforeAll(async () => {
  [many, one] = [await openEnvironment(), await openEnvironment()];
  for (const { context } of [many, one]) {
    for (const name of ['a', 'b']) {
      await createMerchant(context, { name, url: 'https://shop.example/hook', eventsSince: new Date(0) });
    }
  }
});
afterAll(async () => {
  await many[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
});

function shuffle<T>(list: T[], drawn: number): T[] {
  return fc.sample(fc.shuffledSubarray(list, { minLength: list.length }), { numRuns: 1, seed: drawn })[0] ?? [];
}

function inBatches(list: Observation[], size: number): Observation[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

async function countCallbacks(context: Context): Promise<Record<string, number>> {
  const rows = await context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .innerJoin('events', 'events.seq', 'callbacks.event_seq')
    .select(['transactions.id', 'events.status', 'events.at_wall', 'events.occurrence', 'callbacks.merchant_seq'])
    .execute();
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const key = `${row.id} ${row.status} ${row.at_wall} ${row.occurrence}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

test('many appliers at once, each in an order of its own, end as one that saw everything in order', async () => {
  const drawn = chooseSeed(20_261_120);
  const timelines = fc.sample(anyTimeline, { numRuns: TRANSACTIONS, seed: drawn });
  const observations = timelines.flatMap((timeline) =>
    timeline.history.map((_, index) => observeTimeline(timeline, index + 1)),
  );
  for (const batch of inBatches(observations, 100)) await applyObservations(one.context, batch);

  const replicas = [many.context, await many.replica(), await many.replica()];
  const appliers = Array.from({ length: APPLIERS }, async (_, index) => {
    const context = replicas[index % replicas.length] ?? many.context;
    const order = shuffle([...observations, ...observations.slice(0, 50)], drawn + index);
    for (const batch of inBatches(order, 20 + 17 * index)) await applyObservations(context, batch);
  });
  await Promise.all(appliers);

  expect(await readLedgerState(many.context)).toEqual(await readLedgerState(one.context));
  const counts = await countCallbacks(many.context);
  expect(new Set(Object.values(counts))).toEqual(new Set([2]));
  expect(counts).toEqual(await countCallbacks(one.context));
  expect(await checkBooks(many.context)).toMatchObject({ transactions: TRANSACTIONS, broken: 0, breaks: [] });
});

test('more appliers of one pool than it has connections do not wait for each other for ever', async () => {
  const context = await many.replica();
  const rows = Array.from({ length: 60 }, (_, index) => makeShownTransaction(['paid@1'], { platform: `new-${index}` }));
  const applied = await Promise.all(rows.map((row) => applyObservations(context, [observeNow(context, row)])));
  expect(applied.flatMap((result) => result.changed)).toHaveLength(60);
});

test('two that share a reference are reported, even if each is written by another applier at the same time', async () => {
  const replicas = [many.context, await many.replica()];
  const pairs = Array.from({ length: 12 }, (_, index) =>
    [0, 1].map(() => makeShownTransaction(['paid@1'], { reference: `pair-${index}` })),
  );
  for (const pair of pairs) {
    await Promise.all(
      pair.map((row, index) => applyObservations(replicas[index] ?? many.context, [observeNow(many.context, row)])),
    );
  }
  const reported = await readMismatchRows(many.context, 'duplicate_reference');
  const named = new Map(reported.map((one) => [one.reference, (one.actual as { ids: string[] }).ids.toSorted()]));
  for (const pair of pairs) expect(named.get(pair[0]?.reference ?? '')).toEqual(pair.map((row) => row.id).toSorted());
});
