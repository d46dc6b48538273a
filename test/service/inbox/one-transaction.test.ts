/** A payment and the outcome of the webhook that named it are booked in one transaction, with one order of locks. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { eventually } from '../../support/eventually.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

let environment: InboxEnvironment;
beforeAll(async () => {
  environment = await openInboxEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

/** A transaction that the ledger holds as pending, and that the provider shows as paid by now. */
async function pay(): Promise<ShownTransaction> {
  const { context, provider } = environment;
  const pending = makeShownTransaction(['pending@0'], { id: randomUUID() });
  await applyObservations(context, [observe(pending, context.clock.now())]);
  return provider.put({ ...makeShownTransaction(['pending@0', 'paid@1']), id: pending.id });
}

const says = (row: ShownTransaction) => ({ transaction_id: row.id, status: row.status });
const statusOf = async (id: string) =>
  (await environment.context.db.selectFrom('transactions').select('status').where('id', '=', id).executeTakeFirst())
    ?.status;

/** Locks rows of a table until `release` is called. */
async function hold(table: 'transactions' | 'webhooks' | 'webhook_items', column: string, value: string | number) {
  const trx = await environment.context.db.startTransaction().execute();
  await sql`SELECT 1 FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${value} FOR UPDATE`.execute(trx);
  const release = async (): Promise<void> => {
    if (!trx.isCommitted) await trx.commit().execute();
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** Whether another transaction has this row locked. */
async function isLocked(table: 'transactions' | 'webhooks', column: string, value: string | number): Promise<boolean> {
  const asked = sql`SELECT 1 FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${value} FOR UPDATE NOWAIT`;
  return await asked.execute(environment.context.db).then(
    () => false,
    () => true,
  );
}

test('the payment is locked first, then the webhook, then its item; all three are committed together', async () => {
  const { context } = environment;
  const row = await pay();
  await using payment = await hold('transactions', 'id', row.id);
  const { id } = await environment.receive(says(row));
  await waitForLockWaits(context);
  const item = await eventually('its item', () =>
    context.db
      .selectFrom('webhook_items')
      .select(['seq', 'webhook_seq'])
      .where('transaction_id', '=', row.id)
      .executeTakeFirst(),
  );
  // a transaction that waits for a payment has no webhook locked: a repeat is answered
  expect(await environment.receive(says(row))).toMatchObject({ duplicate: true });

  await using webhook = await hold('webhooks', 'seq', item.webhook_seq);
  await payment.release();
  await waitForLockWaits(context);
  expect(await isLocked('transactions', 'id', row.id)).toBe(true);

  await using held = await hold('webhook_items', 'seq', item.seq);
  await webhook.release();
  await waitForLockWaits(context);
  expect(await isLocked('webhooks', 'seq', item.webhook_seq)).toBe(true);
  expect(await statusOf(row.id)).toBe('pending');

  await held.release();
  await environment.waitForState(id, 'applied');
  expect(await statusOf(row.id)).toBe('paid');
});

test.each([
  ['by itself', 1644],
  ['for its data', 1406],
])('an outcome that the database refuses %s keeps back no payment, and no outcome of another', async (_, errno) => {
  const { context, provider } = environment;
  const [blocked, refused, other] = [await pay(), await pay(), await pay()];
  await sql`CREATE TRIGGER refuse_outcome BEFORE UPDATE ON webhook_items FOR EACH ROW
    IF NEW.transaction_id = ${sql.lit(refused.id)} AND NEW.state = 'applied'
    THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused', MYSQL_ERRNO = ${sql.lit(errno)}; END IF`.execute(
    context.db,
  );
  // both are shown while one before them waits for its payment: they are applied together
  await using payment = await hold('transactions', 'id', blocked.id);
  await environment.receive(says(blocked));
  await waitForLockWaits(context);
  const [first, second] = await Promise.all([refused, other].map((row) => environment.receive(says(row))));
  await eventually(
    'both are shown',
    () => [refused, other].every(({ id }) => provider.countShows(id) === 1) || undefined,
  );
  await payment.release();

  await environment.waitForState(second?.id ?? '', 'applied');
  await eventually('the payment', async () => ((await statusOf(refused.id)) === 'paid' ? true : undefined));
  expect(await environment.webhook(first?.id ?? '')).toMatchObject({ state: 'pending' });
  await sql`DROP TRIGGER refuse_outcome`.execute(context.db);
  await environment.waitForState(first?.id ?? '', 'applied');
});

test('a claim that stays wrong is compared with a payment that is locked before its webhook', async () => {
  const { context, provider } = environment;
  const row = provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
  await applyObservations(context, [observe(row, context.clock.now())]);
  const { id } = await environment.receive({ transaction_id: row.id, status: 'paid' });
  const { seq } = await eventually('its webhook', () =>
    context.db
      .selectFrom('webhook_items')
      .select('webhook_seq as seq')
      .where('transaction_id', '=', row.id)
      .where('looks', '>', 0)
      .executeTakeFirst(),
  );
  await using webhook = await hold('webhooks', 'seq', seq);
  await eventually('its last fetch waits for the webhook', async () => {
    await environment.timers.advance(200);
    return (await isLocked('transactions', 'id', row.id)) ? true : undefined;
  });
  await webhook.release();
  expect(await environment.waitForState(id, 'applied')).toMatchObject({ items_detail: [{ contradicted: true }] });
});
