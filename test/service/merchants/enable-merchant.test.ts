import { expect, test } from 'vitest';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { DISABLED } from '../../../src/merchants/disabled-reasons.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { openSurfaces, type Surfaces } from '../../support/open-surfaces.ts';

const env = closeAfterAll(await openCallbackEnvironment());
const surfaces = await openSurfaces(env);

test.each<[string, (surfaces: Surfaces, id: string) => Promise<unknown>]>([
  ['the API', ({ api }, id) => api('admin', 'POST', `/merchants/${id}/enable`)],
  ['a change of its state', ({ api }, id) => api('admin', 'PATCH', `/merchants/${id}`, { state: 'enabled' })],
  ['the console', async ({ console }, id) => (await console('admin')).post(`/merchants/${id}/enable`, {})],
  ['the command', ({ confere }, id) => confere('merchants', 'enable', id)],
])('once operators enable a merchant, what failed and waits is due at once: %s', async (_door, enable) => {
  const { db, clock } = env.context;
  const { merchant } = await env.addMerchant('http://127.0.0.1:9/');
  await env.applyTransaction(['paid']);
  const failedAt = clock.now();
  const next_attempt_at = new Date(failedAt.getTime() + 86_400_000);
  const own = db.updateTable('callbacks').where('merchant_seq', '=', merchant.seq);
  await own.set({ first_failed_at: failedAt, next_attempt_at }).execute();
  await setMerchantState(env.context, merchant.id, 'disabled');
  await enable(surfaces, merchant.id);
  const rows = db.selectFrom('callbacks').select(['state', 'next_attempt_at']).where('merchant_seq', '=', merchant.seq);
  const [row, ...others] = await rows.execute();
  expect([row?.state, others.length]).toEqual(['pending', 0]);
  expect(row?.next_attempt_at?.getTime()).toBeLessThanOrEqual(clock.now().getTime());
});

const stopped = { failures: 10, failing_since: new Date(), breaker_opened_at: new Date() };

test.each<[string, object, string]>([
  ['a pause by operators', { state: 'paused', paused_by: 'operator' }, 'paused_by_operator'],
  ['a pause by the merchant', { state: 'paused', paused_by: 'merchant' }, 'paused_by_merchant'],
  ['a 410', { state: 'disabled', disabled_reason: DISABLED.gone }, 'gone'],
  ['five days of failures', { state: 'disabled', disabled_reason: DISABLED.failing }, 'failing'],
  ['an open breaker', stopped, 'breaker'],
  ['nothing', { state: 'enabled' }, 'enabled'],
])('the audit says what deliveries were resumed from: %s', async (_name, set, was) => {
  const { db } = env.context;
  const { merchant } = await env.addMerchant('http://127.0.0.1:9/');
  const admin = await surfaces.console('admin');
  const token = await createMerchantToken(env.context, merchant.id);
  const own = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
  const doors = [
    () => surfaces.api('admin', 'POST', `/merchants/${merchant.id}/enable`),
    () => admin.post(`/merchants/${merchant.id}/enable`, {}),
    ...(was === 'paused_by_operator' ? [] : [() => fetch(`${surfaces.url}/api/v1/portal/resume`, own)]),
  ];
  for (const resume of doors) {
    await db.updateTable('merchants').set(set).where('id', '=', merchant.id).execute();
    await resume();
  }
  const rows = db.selectFrom('audit').select('detail').where('target', '=', merchant.id);
  const details = (await rows.where('action', '=', 'merchant.enabled').execute()).map(({ detail }) => detail);
  const said = JSON.stringify({ was });
  expect(details).toEqual([said, `console ${said}`, said].slice(0, doors.length));
});
