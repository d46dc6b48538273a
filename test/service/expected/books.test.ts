/** The check of the books over expected payments: matches, candidates and states are what the facts decide. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { dayOver, makeOrders } from '../../support/make-expected.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { backUpRows, dropTriggers, observeNow } from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment());
let restore: () => Promise<void>;
const numbers = new Map<string, string>();
beforeAll(async () => {
  const { context } = environment;
  const day = dayOver(context.calendar.dayOf(context.clock.now()));
  // more than one batch
  const orders = makeOrders(250, { seed: 4, day });
  const payments = orders.flatMap((order) => order.payments.map((row) => observeNow(context, row)));
  await applyObservations(context, payments);
  const arrivals = orders.map(({ number, facts }) => ({
    source: 'shop',
    number,
    facts: expectedFactsSchema.parse(facts),
  }));
  const outcomes = await putExpected(context, { arrivals, actor: 'test' });
  for (const [index, { id }] of outcomes.entries()) {
    numbers.set(orders[index]?.fault ?? '', id);
    if (orders[index]?.isCancelled) await cancelExpected(context, { id, actor: 'test' });
  }
  await recordReadDays(context, day, day, context.clock.now());
  await decideAll(context);
  await dropTriggers(context.db);
  restore = await backUpRows(context.db);
});
afterEach(() => restore());

const findBreaks = async () => {
  const { breaks } = await checkBooks(environment.context);
  return breaks.filter(({ scope }) => scope.startsWith('ep_'));
};
const seqOf = async (fault: string): Promise<number> => {
  const head = environment.context.db.selectFrom('expected_payments').select('seq');
  return (await head.where('id', '=', numbers.get(fault) ?? '').executeTakeFirstOrThrow()).seq;
};

test('all is right, and what the follower has still to decide is left to the next check', async () => {
  const { context } = environment;
  expect(await findBreaks()).toEqual([]);
  const { db } = context;
  await db
    .updateTable('expected_payments')
    .set({ state: 'paid' })
    .where('seq', '=', await seqOf('unpaid'))
    .execute();
  await db
    .insertInto('expected_work')
    .values({ expected_seq: await seqOf('unpaid'), created_at: new Date(0), due_at: new Date(0) })
    .execute();
  expect(await findBreaks()).toEqual([]);
});

const BROKEN: Record<string, { fault: string; says: RegExp; spoil: (seq: number) => Promise<unknown> }> = {
  'a state that the facts do not decide': {
    fault: 'unpaid',
    says: /its state, reason_code is not what the facts decide: unpaid/,
    spoil: (seq) =>
      environment.context.db
        .updateTable('expected_payments')
        .set({ state: 'paid', reason_code: null })
        .where('seq', '=', seq)
        .execute(),
  },
  'a sum that is not that of its matches': {
    fault: 'overpaid',
    says: /its settled_cents is not/,
    spoil: (seq) =>
      environment.context.db
        .updateTable('expected_payments')
        .set({ settled_cents: 1n })
        .where('seq', '=', seq)
        .execute(),
  },
  'a match that is gone': {
    fault: 'by_document',
    says: /is not stored as its match/,
    spoil: (seq) => environment.context.db.deleteFrom('expected_matches').where('expected_seq', '=', seq).execute(),
  },
  'a match by another rule than the facts give': {
    fault: 'paid',
    says: /is stored as its match, and no rule matches them/,
    spoil: (seq) =>
      environment.context.db
        .updateTable('expected_matches')
        .set({ rule: 'extra' })
        .where('expected_seq', '=', seq)
        .execute(),
  },
  'a candidate that is gone': {
    fault: 'ambiguous',
    says: /is its candidate, and is not stored/,
    spoil: (seq) => environment.context.db.deleteFrom('expected_candidates').where('expected_seq', '=', seq).execute(),
  },
  'facts that are not those of its version': {
    fault: 'refunded',
    says: /its row has not the facts of its newest version/,
    spoil: (seq) =>
      environment.context.db
        .updateTable('expected_payments')
        .set({ due_day: '2026-01-01' })
        .where('seq', '=', seq)
        .execute(),
  },
  'a cancellation that nobody made': {
    fault: 'underpaid',
    says: /its row does not say whether it is cancelled/,
    spoil: (seq) =>
      environment.context.db.updateTable('expected_payments').set({ is_cancelled: 1 }).where('seq', '=', seq).execute(),
  },
};

test.each(Object.keys(BROKEN))('%s is found', async (name) => {
  const { fault, says, spoil } = BROKEN[name] as (typeof BROKEN)[string];
  await spoil(await seqOf(fault));
  const found = await findBreaks();
  expect(found.map(({ scope }) => scope)).toContain(numbers.get(fault));
  expect(found.map((one) => one.says).join('\n')).toMatch(says);
});
