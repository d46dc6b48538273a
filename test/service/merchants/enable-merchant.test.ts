import { expect, test } from 'vitest';
import { setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
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
