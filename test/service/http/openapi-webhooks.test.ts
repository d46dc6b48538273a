import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import { STATUSES, OPERATIONS as WAYS } from '../../../src/domain/statuses.ts';
import { buildDocument } from '../../../src/http/openapi/build-document.ts';
import { CALLBACK_MESSAGES } from '../../../src/http/openapi/callback-messages.ts';
import { API_OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { eventually } from '../../support/eventually.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';

type Json = Record<string, unknown>;
type Told = {
  parameters: { name: string; required: boolean }[];
  requestBody: { content: { 'application/json': { schema: Json } } };
};

const document = buildDocument(API_OPERATIONS, CALLBACK_MESSAGES, { version: '1', url: 'http://127.0.0.1' }) as {
  webhooks: Record<string, { post: Told }>;
  components: { schemas: Json };
};

/** A message's schema with its components beside it, closed: what is sent but not documented is a fault here. */
function schemaOf(type: string): z.ZodType {
  const told = document.webhooks[type]?.post.requestBody.content['application/json'].schema;
  expect(told, type).toBeDefined();
  const inlined = JSON.stringify({ ...told, $defs: document.components.schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  );
  const closed = JSON.parse(inlined, (_, value: Json) =>
    value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
  ) as Json;
  return z.fromJSONSchema(closed);
}

test('every message that is really delivered is in the document, as it is', async () => {
  await using world = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await world.addMerchant(`${shop.url}/a`);
  await world.deliver();
  for (const operation of WAYS) {
    await world.applyTransaction(['pending', 'in_process', 'in_analysis', 'paid', 'refund'], { operation });
    await world.applyTransaction(['denied'], { operation, extra: '{"store":"12"}', reference: 'a', platform: 'p' });
    await world.applyTransaction(['canceled'], { operation });
    await world.applyTransaction(['expired'], { operation });
  }
  for (const operation of WAYS) {
    const paid = await world.applyTransaction(['paid'], { operation });
    paid.shown.amount = '120.00';
    await world.appendEvents(paid, []);
    const { id } = await world.context.db
      .selectFrom('mismatches')
      .select('id')
      .where('transaction_id', '=', paid.id)
      .executeTakeFirstOrThrow();
    await acceptMismatch(world.context, id, { actor: 'tok_1', note: 'a test' });
  }
  world.context.wakeUps.callbacks.notify();
  await sendTest(world.context, merchant.id);
  await eventually('all', () => shop.calls.length === 2 * (STATUSES.length + 2) + 1);
  for (const { json, headers } of shop.calls) {
    expect(schemaOf(json.type).safeParse(json).error?.issues ?? [], json.type).toEqual([]);
    const told = document.webhooks[json.type]?.post.parameters ?? [];
    expect(told).toHaveLength(3);
    for (const { name } of told) expect(headers).toHaveProperty(name);
  }
  const sent = new Set(shop.calls.map(({ json }) => json.type));
  expect(Object.keys(document.webhooks).filter((type) => !sent.has(type))).toEqual([]);
});

test('a message of another shape is none of them', () => {
  const body = { type: 'pix.cashin.paid', timestamp: '2026-11-21T08:00:00-03:00', data: { transaction: {} } };
  expect(schemaOf('pix.cashin.paid').safeParse(body).success).toBe(false);
  expect(schemaOf('confere.test').safeParse(body).success).toBe(false);
});
