/** Messages that are held without a pause or an open circuit breaker: their schedule ended while the address took nothing. */
import { expect, test } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { hiddenFields } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';

const EXPLAINED = 'What is held has no attempt planned: the address fails';

test('what is held after its schedule says what frees it, and one button counts and sends it', async () => {
  await using env = await openCallbackEnvironment({ CALLBACK_RETRY_SCHEDULE: '2m' });
  await using shop = await openMerchantServer();
  const { context, timers } = env;
  shop.behaviours['/a'] = () => 500;
  const { merchant } = await env.addMerchant(`${shop.url}/a`);
  const server = env.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  const url = `http://127.0.0.1:${server.port}`;
  const cookie = `confere_portal=${await openMerchantSession(context, await createMerchantToken(context, merchant.id))}`;
  const headers = { cookie, origin: url, 'accept-language': 'en' };
  const show = async (address: string) => {
    await timers.advance(1_000);
    return await (await fetch(`${url}${address}`, { headers })).text();
  };
  env.deliverHere();
  const count = async (state: string) =>
    (await context.db.selectFrom('callbacks').select('seq').where('state', '=', state).execute()).length;
  await env.applyTransactions(2, ['paid']);
  await env.advanceUntil('the first tries', () => shop.calls.length >= 2);
  expect(await show('/portal')).not.toContain(EXPLAINED);
  await timers.advance(150_000);
  await env.advanceUntil('both are held', async () => (await count('held')) === 2);
  const { failing_since: since } = await findMerchant(context.db, merchant.id);
  const home = await show('/portal');
  expect(home).toContain(EXPLAINED);
  expect(home).toContain('Send now all that waits');
  const list = await show('/portal/callbacks?state=held');
  expect(list).toContain('Send now all that waits');
  const [page = ''] = /\/portal\/callbacks\/msg_\w+/.exec(list) ?? [];
  const shown = await show(page);
  expect([shown.includes(EXPLAINED), shown.includes('next attempt')]).toEqual([true, false]);
  const pressed = await fetch(`${url}/portal/resume`, {
    ...{ method: 'POST', headers, redirect: 'manual', body: new URLSearchParams(hiddenFields(home)) },
  });
  expect(pressed.headers.get('location')).toBe('/portal?done=sent_waiting&n=2&following=0');
  // it delays no report of a failing address
  expect([since instanceof Date, (await findMerchant(context.db, merchant.id)).failing_since]).toEqual([true, since]);
  shop.behaviours['/a'] = () => 200;
  await env.advanceUntil('both came', async () => (await count('delivered')) === 2);
});
