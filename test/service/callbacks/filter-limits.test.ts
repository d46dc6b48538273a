import { expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { alertOutages, type MerchantOutage } from '../../../src/callbacks/health/alert-outages.ts';
import { RATES_A_MINUTE } from '../../../src/merchants/count-request.ts';
import { DISABLED } from '../../../src/merchants/disabled-reasons.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openApi } from '../../support/open-api.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { ADMIN_TOKEN, SECRET_KEY } from '../../support/start-serve.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
const BEYOND = [
  ['extra_match', { extra_match: keys(51) }],
  ['extra_match', { extra_match: { ['k'.repeat(129)]: 1 } }],
  ['extra_match', { extra_match: { k: 'v'.repeat(513) } }],
  ['statuses', { statuses: Array.from({ length: 201 }, (_, n) => `s${n}`) }],
  ['reference_prefixes', { reference_prefixes: ['r'.repeat(513)] }],
  ['extra_match', { extra_prefixes: Array.from({ length: 40 }, (_, n) => `${n}${'x'.repeat(500)}`) }],
] as const;

const RANGE = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };

const shop = closeAfterAll(await openMerchantServer());
const env = closeAfterAll(await openCallbackEnvironment({ SECRET_KEY, ADMIN_TOKEN }));
const { id } = (await env.addMerchant(`${shop.url}/a`)).merchant;
const api = await openApi<Problem>(env);
const portalToken = await createMerchantToken(env.context, id);

async function call(method: string, path: string, body?: object, token = ADMIN_TOKEN) {
  if (token !== ADMIN_TOKEN) await env.timers.advance(1_000);
  const { status, json } = await api(method, path, body, token);
  return { status, fields: Object.keys(json.errors ?? {}), detail: json.detail };
}
type Problem = { errors?: Record<string, string[]>; detail?: string };

test.each(BEYOND)(
  'a filter whose %s is beyond the limits is refused for staff, merchants and replays',
  async (field, filter) => {
    const refused = { status: 422, fields: [expect.stringContaining(`filter.${field}`)] };
    expect(await call('POST', '/merchants', { name: 'x', url: null, filter })).toMatchObject(refused);
    expect(await call('PATCH', `/merchants/${id}`, { filter })).toMatchObject(refused);
    expect(await call('PATCH', `/merchants/${id}`, { filter, dry_run: true })).toMatchObject(refused);
    expect(await call('POST', '/callbacks/replay', { merchant: id, ...RANGE, filter })).toMatchObject(refused);
    expect(await call('PUT', '/portal/filter', { filter }, portalToken)).toMatchObject(refused);
    expect(await call('PUT', '/portal/filter', { filter, dry_run: true }, portalToken)).toMatchObject(refused);
  },
);

test('a command refuses a filter beyond the limits', async () => {
  const variables = { DATABASE_URL: env.context.config.DATABASE_URL ?? '', SECRET_KEY };
  const pairs = Object.entries(keys(51)).flatMap(([key, value]) => ['--extra-match', `${key}=${value}`]);
  const refused = await runCommandInProcess(['merchants', 'update', id, ...pairs], variables);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--extra-match has more than 50 keys') });
});

test('a merchant with a stored filter beyond the limits gets nothing, is alerted, and a smaller one brings what it missed', async () => {
  const { db } = env.context;
  await env.deliver();
  await env.applyTransaction(['paid']);
  await env.advanceUntil('the first is delivered', () => shop.acceptedCalls('/a').length === 1);
  const filter = JSON.stringify({ extra_match: keys(5_000) });
  await db.updateTable('merchants').set({ filter }).where('id', '=', id).execute();
  const missed = await env.applyTransaction(['paid']);
  await watch(env.context);
  const disabled = await db.selectFrom('merchants').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  expect(disabled).toMatchObject({ state: 'disabled', disabled_reason: DISABLED.filter });
  const outages: MerchantOutage[] = [];
  await alertOutages(env.context, (outage) => void outages.push(outage));
  expect(outages).toMatchObject([{ kind: 'merchant_disabled', merchantId: id }]);
  await env.applyTransaction(['paid']);
  expect((await db.selectFrom('callbacks').selectAll().execute()).length).toBe(1);
  expect(await call('POST', `/merchants/${id}/enable`)).toMatchObject({ status: 409, detail: DISABLED.filter });

  expect((await call('PATCH', `/merchants/${id}`, { filter: {} })).status).toBe(200);
  const again = await db.selectFrom('merchants').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  expect(again).toMatchObject({ state: 'enabled', disabled_reason: null });
  await env.advanceUntil('what it missed is delivered', async () => {
    await runBackfills(env.context);
    return shop.acceptedCalls('/a').length === 3;
  });
  const ids = shop.acceptedCalls('/a').map(({ json }) => json.data.transaction.id);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toContain(missed.id);
});

test.each([
  ['test', () => call('POST', `/merchants/${id}/test`), 202],
  ['replay', () => call('POST', '/callbacks/replay', { merchant: id, ...RANGE, dry_run: true }), 200],
  ['preview', () => call('PATCH', `/merchants/${id}`, { filter: {}, dry_run: true }), 200],
] as const)('a merchant has a number of each a minute: %s', async (kind, ask, status) => {
  await env.timers.advance(60_000);
  const statuses = [];
  // a minute may end meanwhile, not two
  for (let n = 0; n <= 2 * RATES_A_MINUTE[kind]; n++) statuses.push((await ask()).status);
  expect([statuses[0], new Set(statuses)]).toEqual([status, new Set([status, 429])]);
  await env.timers.advance(60_000);
  expect((await ask()).status).toBe(status);
});

test('a parameter of more than 2,048 characters is refused', async () => {
  expect(await call('GET', `/transactions?extra=${'x'.repeat(2_049)}`)).toMatchObject({
    status: 422,
    fields: ['extra'],
  });
  expect((await call('GET', `/transactions?extra=${'x'.repeat(2_048)}`)).status).toBe(200);
});
