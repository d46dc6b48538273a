import { randomBytes, randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLAIM_COLUMNS, claimItems, toClaimedItem } from '../../../src/inbox/items/claim-items.ts';
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
      { items, result: { kind: 'row', row: { ok: true, transaction, digest, askedAt } } },
    ]);
  };
  await fetchOnce(() => context.db.updateTable('webhooks').set({ repeats: 1 }).execute());
  expect(await readStates()).toEqual(['pending', 'pending']);
  await fetchOnce(async () => undefined);
  expect(await readStates()).toEqual(['applied', 'applied']);
});
