import { randomBytes, randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLAIM_COLUMNS, claimItems, toClaimedItem } from '../../../src/inbox/items/claim-items.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { recordOutcomes } from '../../../src/inbox/verify/record-outcomes.ts';
import { observe } from '../../support/make-observations.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';

let environment: TestEnvironment;
let log: PassThrough;
beforeEach(async () => {
  log = new PassThrough();
  environment = await openEnvironment({ LOG_LEVEL: 'error' }, undefined, log);
});
afterEach(() => environment[Symbol.asyncDispose]());

async function insertWebhook(): Promise<number> {
  const { insertId } = await environment.context.db
    .insertInto('webhooks')
    .values({
      ...{ hash: randomBytes(32), body: Buffer.from('{}'), received_at: new Date(), source_address: '127.0.0.1' },
      ...{ headers: '{}', state: 'pending', items: 1 },
    })
    .executeTakeFirstOrThrow();
  return Number(insertId);
}

async function insertItem(webhook: number): Promise<void> {
  const now = environment.context.clock.now();
  await environment.context.db
    .insertInto('webhook_items')
    .values({
      ...{ webhook_seq: webhook, position: 0, received_at: now, state: 'pending', next_look_at: now },
      transaction_id: randomUUID(),
    })
    .execute();
}

test('an item whose webhook is gone is logged, and delays no other item', async () => {
  const [gone, kept] = [await insertWebhook(), await insertWebhook()];
  await insertItem(gone);
  await insertItem(kept);
  await environment.context.db.deleteFrom('webhooks').where('seq', '=', gone).execute();
  expect(await claimItems(environment.context, 10)).toMatchObject([{ webhookSeq: kept, itemsInWebhook: 1 }]);
  const lines = (log.read() as Buffer | null)?.toString() ?? '';
  expect(lines).toContain(`"webhook":${gone},"msg":"the webhook of an item is gone;`);

  const row = await environment.context.db
    .selectFrom('webhook_items')
    .select(CLAIM_COLUMNS)
    .where('webhook_seq', '=', gone)
    .executeTakeFirstOrThrow();
  expect(() => toClaimedItem(row, new Map())).toThrow(`item ${row.seq} has no webhook ${gone}`);
});

test('a webhook that is received again during its fetch is closed by the next fetch', async () => {
  const { context } = environment;
  const webhook = await insertWebhook();
  await insertItem(webhook);
  const readStates = async () => {
    const items = context.db.selectFrom('webhook_items').select('state').where('webhook_seq', '=', webhook);
    const webhooks = context.db.selectFrom('webhooks').select('state').where('seq', '=', webhook);
    return (await webhooks.unionAll(items).execute()).map(({ state }) => state);
  };
  const fetchOnce = async (whileFetching: () => Promise<unknown>) => {
    const items = await claimItems(context, 10);
    expect(items).toHaveLength(1);
    const { transaction, digest, askedAt } = observe(makeShownTransaction(['paid@0']), context.clock.now());
    await whileFetching();
    await recordOutcomes(context, [
      { items, result: { kind: 'row', rows: [{ ok: true, transaction, digest, askedAt }] } },
    ]);
  };
  await fetchOnce(() => context.db.updateTable('webhooks').set({ repeats: 1 }).execute());
  expect(await readStates()).toEqual(['pending', 'pending']);
  await fetchOnce(async () => undefined);
  expect(await readStates()).toEqual(['applied', 'applied']);
});

/** InnoDB leaves a sixteenth of a page free: a row of 190 bytes may grow by that. */
const GROWTH_BYTES_MAX = 11;

test.each([
  ['claimed as it is inserted', 1],
  ['claimed later', 0],
])('an item that is %s does not grow until its outcome is recorded', async (_, slots) => {
  const { context } = environment;
  const shown = makeShownTransaction(['pending@0', 'paid@1'], { id: randomUUID() });
  await context.db
    .insertInto('webhooks')
    .values({
      ...{ hash: randomBytes(32), received_at: context.clock.now(), source_address: '127.0.0.1', headers: '{}' },
      ...{ body: Buffer.from(JSON.stringify({ transaction_id: shown.id, status: 'paid' })), state: 'received' },
    })
    .execute();
  const { claimed } = await splitWebhooks(context, slots);
  expect(claimed).toHaveLength(slots);
  const inserted = await readItemBytes();
  const items = slots > 0 ? claimed : await claimItems(context, 10);
  expect(items).toHaveLength(1);
  const { transaction, digest, askedAt } = observe(shown, context.clock.now());
  const row = { ok: true as const, transaction, digest, askedAt };
  expect((await readItemBytes()) - inserted).toBeLessThanOrEqual(GROWTH_BYTES_MAX);
  await recordOutcomes(context, [{ items, result: { kind: 'row', rows: [row] } }]);
  expect((await readItemBytes()) - inserted).toBeLessThanOrEqual(GROWTH_BYTES_MAX);
  const stored = await context.db
    .selectFrom('webhook_items')
    .select(['state', 'resolved_id', 'lease_holder'])
    .execute();
  expect(stored).toEqual([{ state: 'applied', resolved_id: shown.id, lease_holder: null }]);
});

/** The bytes of the only item's columns whose length changes; a DATETIME(3) has 7. */
async function readItemBytes(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`SELECT LENGTH(state) + COALESCE(LENGTH(reason), 0)
      + COALESCE(LENGTH(lease_holder), 0) + COALESCE(LENGTH(resolved_id), 0)
      + 7 * ((lease_until IS NOT NULL) + (next_look_at IS NOT NULL) + (looked_at IS NOT NULL)) AS bytes
    FROM webhook_items`.execute(environment.context.db);
  return Number(rows[0]?.bytes);
}
