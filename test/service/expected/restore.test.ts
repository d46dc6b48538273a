/** A restored backup: sources and the provider say again what it lacks, and nothing is lost silently. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { listExpected } from '../../../src/expected/read/list-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import {
  backUpRows,
  dropTriggers,
  makeShownTransaction,
  observeNow,
  readMismatchRows,
} from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));
beforeAll(async () => {
  await dropTriggers(environment.context.db);
});

const by = { actor: 'test', note: 'visto no extrato' };
const DAYS = { operation: 'cashin', issued_day: '2026-11-10', due_day: '2026-11-25' };
/** The facts that the source gives last of each, of which the backup has the first facts of three. */
const ORDERS = {
  kept: { ...DAYS, amount: '10.00', references: ['kept'] },
  corrected: { ...DAYS, amount: '12.00', references: ['corrected'] },
  later: { ...DAYS, amount: '13.00', references: ['later'] },
  byPerson: { ...DAYS, amount: '14.00' },
  cancelled: { ...DAYS, amount: '15.00', references: ['cancelled'] },
};
const PAID = {
  ...{ kept: makePayment('10.00', 'kept'), corrected: makePayment('12.00', 'corrected') },
  ...{
    later: makePayment('13.00', 'later'),
    byPerson: makePayment('14.00'),
    cancelled: makePayment('15.00', 'cancelled'),
  },
};

function makePayment(amount: string, reference?: string) {
  return makeShownTransaction(['pending@1', 'paid@2'], {
    id: randomUUID(),
    amount,
    ...(reference ? { reference } : {}),
  });
}

async function say(orders: Record<string, object>) {
  const arrivals = Object.entries(orders).map(([number, facts]) => ({
    source: 'shop',
    number,
    facts: expectedFactsSchema.parse(facts),
  }));
  return await putExpected(environment.context, { arrivals, actor: 'shop' });
}

async function learn(...names: (keyof typeof PAID)[]) {
  const { context } = environment;
  await applyObservations(
    context,
    names.map((name) => observeNow(context, PAID[name])),
  );
}

async function read() {
  await decideAll(environment.context);
  const rows = await listExpected(environment.context, 100, undefined);
  const shown = rows.map(({ id, number, state, paid, matches }) => [
    number,
    { id, state, paid, matches: matches.map((one) => `${one.transaction_id} ${one.rule}`) },
  ]);
  return Object.fromEntries(shown) as Record<string, { id: string; state: string; matches: string[] }>;
}

test('ids are the same, each match of a rule comes again once, and the lost decision of a person is reported', async () => {
  const { context } = environment;
  const { later: _, ...known } = ORDERS;
  await say({ ...known, corrected: { ...ORDERS.corrected, amount: '11.00' } });
  await learn('kept', 'corrected');
  await read();
  const restore = await backUpRows(context.db);

  await say(ORDERS);
  await learn('later', 'byPerson', 'cancelled');
  const ids = await read();
  await cancelExpected(context, { id: ids.cancelled?.id ?? '', actor: 'shop' });
  await matchExpected(context, { ...by, id: ids.byPerson?.id ?? '', transactionId: PAID.byPerson.id });
  const before = await read();
  expect(before).toMatchObject({
    byPerson: { state: 'paid' },
    cancelled: { state: 'paid_after_cancel' },
    later: { state: 'paid' },
  });

  await restore();
  expect(await read()).toMatchObject({ corrected: { state: 'overpaid' }, kept: before.kept });
  // sources send again, twice; the provider's list is read again
  await say(ORDERS);
  expect((await say(ORDERS)).map(({ status }) => status)).toEqual(Object.keys(ORDERS).map(() => 'unchanged'));
  await learn('kept', 'corrected', 'later', 'byPerson', 'cancelled');
  await cancelExpected(context, { id: before.cancelled?.id ?? '', actor: 'shop' });
  const after = await read();
  const { byPerson, ...others } = before;
  expect(after).toMatchObject(others);
  // nobody else knows what a person decided: the payment is reported as nobody's, and matched by nothing else
  expect(after.byPerson).toMatchObject({ id: byPerson?.id, matches: [] });
  const lost = await readMismatchRows(context, 'receipt_unidentified');
  expect(lost.map((row) => [row.transaction_id, row.state])).toEqual([[PAID.byPerson.id, 'open']]);
  await matchExpected(context, { ...by, id: byPerson?.id ?? '', transactionId: PAID.byPerson.id });
  expect(await read()).toEqual(before);
  expect((await readMismatchRows(context, 'receipt_unidentified')).map(({ state }) => state)).toEqual(['resolved']);
  expect((await checkBooks(context)).breaks).toEqual([]);
});
