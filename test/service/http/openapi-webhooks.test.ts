import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import type { Context } from '../../../src/context.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { STATUSES, OPERATIONS as WAYS } from '../../../src/domain/statuses.ts';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { buildDocument } from '../../../src/http/openapi/build-document.ts';
import { CALLBACK_MESSAGES } from '../../../src/http/openapi/callback-messages.ts';
import { API_OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { eventually } from '../../support/eventually.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { readRow } from '../../support/read-rows.ts';
import { runBackfills } from '../../support/work-backfills.ts';

type Json = Record<string, unknown>;
type Documented = {
  parameters: { name: string; required: boolean }[];
  requestBody: { content: { 'application/json': { schema: Json } } };
};

const document = buildDocument(API_OPERATIONS, CALLBACK_MESSAGES, { version: '1', url: 'http://127.0.0.1' }) as {
  webhooks: Record<string, { post: Documented }>;
  components: { schemas: Json };
};

/** A message's schema with its components, without additional properties: an undocumented field fails. */
function schemaOf(type: string): z.ZodType {
  const documented = document.webhooks[type]?.post.requestBody.content['application/json'].schema;
  expect(documented, type).toBeDefined();
  const inlined = JSON.stringify({ ...documented, $defs: document.components.schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  );
  const closed = JSON.parse(inlined, (_, value: Json) =>
    value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
  ) as Json;
  return z.fromJSONSchema(closed);
}

test('every message that is delivered matches its description in the document', async () => {
  await using env = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  await env.addMerchant(`${shop.url}/flat`, { format: 'provider', bearerToken: 'theirs' });
  await env.deliver();
  for (const operation of WAYS) {
    await env.applyTransaction(['pending', 'in_process', 'in_analysis', 'paid', 'refund'], { operation });
    await env.applyTransaction(['denied'], { operation, extra: '{"store":"12"}', reference: 'a', platform: 'p' });
    await env.applyTransaction(['canceled'], { operation });
    await env.applyTransaction(['expired'], { operation });
  }
  for (const operation of WAYS) {
    const paid = await env.applyTransaction(['paid'], { operation });
    paid.shown.amount = '120.00';
    await env.appendEvents(paid, []);
    const { id } = await readRow(env.context.db, 'mismatches', ['id'], { transaction_id: paid.id });
    await acceptMismatch(env.context, id, { actor: 'tok_1', note: 'a test' });
  }
  await env.addMerchant(`${shop.url}/orders`, { filter: { expected: true, platforms: ['of orders'] } });
  const order = { operation: 'cashin', amount: '10.00', due_day: '2026-11-20', platform: 'of orders' };
  const arrivals = [{ source: 'shop', number: '1', facts: expectedFactsSchema.parse(order) }];
  const [put] = await putExpected(env.context, { arrivals, actor: 'test' });
  await decideAll(env.context);
  await cancelExpected(env.context, { id: put?.id ?? '', actor: 'test' });
  await decideAll(env.context);
  env.context.wakeUps.callbacks.notify();
  await sendTest(env.context, merchant.id);
  await makeManifest(env.context, merchant.seq);
  // it is sent once its proof is there
  await env.timers.advance(150_000);
  env.context.wakeUps.callbacks.notify();
  const ended = env.context.db.selectFrom('callbacks').select('seq').where('state', 'in', ['delivered', 'failed']);
  await eventually('all', async () => (await ended.execute()).length === 4 * (STATUSES.length + 2) + 3);
  // the format of the provider has no corrections
  expect(shop.callsTo('/flat')).toHaveLength(2 * (STATUSES.length + 1));
  for (const { path, json, headers } of shop.calls) {
    const isFlat = path === '/flat';
    const type = isFlat ? 'provider' : json.type;
    expect(schemaOf(type).safeParse(json).error?.issues ?? [], type).toEqual([]);
    const documented = document.webhooks[type]?.post.parameters ?? [];
    expect(documented).toHaveLength(isFlat ? 4 : 3);
    for (const { name } of documented) expect(headers).toHaveProperty(name);
  }
  const sent = new Set(shop.calls.map(({ path, json }) => (path === '/flat' ? 'provider' : json.type)));
  // each state of an order has the description of the one that is sent
  const others = Object.keys(document.webhooks).filter((type) => !sent.has(type));
  const described = (type: string) => JSON.stringify(document.webhooks[type]?.post.requestBody).replace(type, '');
  const states = others.filter((type) => type.startsWith('pix.expected.'));
  // sent to a new address alone (portal/addresses.test.ts)
  expect(others.filter((type) => !states.includes(type))).toEqual(['confere.challenge']);
  for (const type of states) expect(described(type), type).toEqual(described('pix.expected.cancelled'));
});

async function makeManifest(context: Context, merchantSeq: number): Promise<void> {
  await runBackfills(context);
  const day = addDays(context.calendar.dayOf(context.clock.now()), -1);
  await context.db.insertInto('due_day_manifests').values({ day, merchant_seq: merchantSeq }).execute();
  expect(await makeDayManifests(context)).toEqual({ made: 1 });
}

test('a message of another shape matches no description', () => {
  const body = { type: 'pix.cashin.paid', timestamp: '2026-11-21T08:00:00-03:00', data: { transaction: {} } };
  expect(schemaOf('pix.cashin.paid').safeParse(body).success).toBe(false);
  expect(schemaOf('confere.test').safeParse(body).success).toBe(false);
});
