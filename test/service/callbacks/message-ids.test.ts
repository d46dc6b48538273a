/** The id of a message belongs to its content: after a restore, or another order of learning. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import type { MerchantRow } from '../../../src/merchants/read-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';

const env = closeAfterAll(await openEnvironment());
let merchant: MerchantRow;
beforeAll(async () => {
  const made = await createMerchant(env.context, { name: 'shop', url: null, eventsSince: new Date(0) });
  merchant = made.merchant;
});

let asked = 0;
async function apply(...rows: ShownTransaction[]): Promise<void> {
  for (const row of rows) {
    asked = Math.max(asked + 1, env.context.clock.now().getTime());
    await applyObservations(env.context, [observe(row, new Date(asked))]);
  }
}

/** The ids of the merchant's messages in the order of their learning, by type. */
async function readIds(): Promise<Record<string, string[]>> {
  const rows = await env.context.db
    .selectFrom('callbacks')
    .select(['webhook_id', 'type'])
    .where('merchant_seq', '=', merchant.seq)
    .orderBy('seq')
    .execute();
  const byType = Map.groupBy(rows, ({ type }) => type.split('.').at(-1) ?? '');
  return Object.fromEntries([...byType].map(([type, ofType]) => [type, ofType.map((row) => row.webhook_id)]));
}

const LEDGER = ['transactions', 'parties', 'events', 'event_places', 'event_standings', 'fact_changes', 'corrections'];
const CAUSED = ['entries', 'postings', 'callbacks', 'mismatches', 'doubted_events', 'doubted_statuses'];

/** Restores a backup of before all payments. TRUNCATE, because triggers refuse a DELETE. */
async function restore(): Promise<void> {
  for (const table of [...LEDGER, ...CAUSED]) await sql`TRUNCATE ${sql.table(table)}`.execute(env.context.db);
}

/** One payment, each time as the provider may show it: paid at that minute. */
const ID = '0f0e0d0c-0000-4000-8000-00000000aaaa';
const paidAt = (minute: number, more: Partial<ShownTransaction> = {}): ShownTransaction => ({
  ...makeShownTransaction(['pending@0', `paid@${minute}`]),
  ...{ id: ID, date_created: '2026-11-20 22:00:00', ...more },
});
const bare = (row: ShownTransaction): ShownTransaction => ({ ...row, events: [] });

test('a payment has one id, whether its time was inferred or its history came first', async () => {
  await restore();
  await apply(bare(paidAt(5)), paidAt(5));
  const inferred = await readIds();
  await restore();
  await apply(paidAt(5));
  const real = await readIds();
  expect(inferred.paid).toHaveLength(1);
  expect({ ...inferred, corrected: undefined }).toEqual(real);
});

test('after a restore a correction with other content has another id, and the same one has the same', async () => {
  const learn = async (minute: number): Promise<string[]> => {
    await restore();
    await apply(bare(paidAt(minute)), paidAt(minute));
    return (await readIds()).corrected ?? [];
  };
  const [first, other, again] = [await learn(5), await learn(7), await learn(5)];
  expect(first).toHaveLength(1);
  expect(other).toHaveLength(1);
  expect(other).not.toEqual(first);
  expect(again).toEqual(first);
});

test('after a restore a correction has its id though others were learnt before it', async () => {
  await restore();
  await apply(bare(paidAt(5)), paidAt(5));
  const [known] = (await readIds()).corrected ?? [];
  await restore();
  const shorter = { ...paidAt(5), events: paidAt(5).events.slice(1) };
  await apply(bare(paidAt(5)), { ...shorter, events: [{ status: 'pending', date_created: '2026-11-20 22:00:00' }] });
  await apply(paidAt(5));
  expect((await readIds()).corrected).toContain(known);
});

test('a payment that is corrected from A to B, back, and to B once more has three corrections with ids of their own', async () => {
  const accept = async (amount: string): Promise<void> => {
    await apply(paidAt(5, { amount }));
    const open = env.context.db.selectFrom('mismatches').select('id').where('state', '<>', 'resolved');
    const { id } = await open.where('kind', '=', 'amount_differs').executeTakeFirstOrThrow();
    await acceptMismatch(env.context, id, { actor: 'adm', note: 'seen' });
  };
  const learn = async (): Promise<string[]> => {
    await restore();
    await apply(paidAt(5));
    for (const amount of ['12.00', '10.00', '12.00']) await accept(amount);
    return (await readIds()).corrected ?? [];
  };
  const ids = await learn();
  expect(new Set(ids).size).toBe(3);
  expect(await learn(), 'the same after a restore').toEqual(ids);
});

test('a payment that comes after a person took the inferred one out of force is announced, under an id of its own', async () => {
  await restore();
  const row = paidAt(5);
  const pending = { ...row, status: 'pending', events: row.events.slice(1) };
  await apply(bare(row));
  for (const _ of [1, 2, 3]) {
    // further apart than one doubt of the history needs
    asked += 120_000;
    await apply(pending);
  }
  const open = env.context.db.selectFrom('mismatches').select('id').where('state', '<>', 'resolved');
  const { id } = await open.where('kind', '=', 'status_differs').executeTakeFirstOrThrow();
  await acceptMismatch(env.context, id, { actor: 'adm', note: 'seen' });
  await apply(row);
  const { paid = [] } = await readIds();
  expect(new Set(paid).size).toBe(2);
});
