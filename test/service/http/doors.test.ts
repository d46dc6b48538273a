import { sql } from 'kysely';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { findSession, openSession } from '../../../src/access/sessions.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';

const HOUR_MS = 3_600_000;

const env = closeAfterAll(
  await openConsoleEnvironment({
    PUBLIC_URL: 'https://confere.example',
    TRUST_PROXY: '127.0.0.0/8',
    WEBHOOK_ALLOW: '203.0.113.0/24,2001:db8::/32',
  }),
);

async function ask(path: string, headers: Record<string, string>, url = env.url) {
  const { statusCode, headers: answered, body } = await request(`${url}${path}`, { headers });
  return { status: statusCode, headers: answered, text: await body.text() };
}

test.each(['confere.example', 'CONFERE.example:8443', 'localhost:3000', '127.0.0.1', '[::1]:3000', 'confere.example.'])(
  'the API and the console answer under %s',
  async (host) => {
    const authorization = `Bearer ${env.tokens.viewer}`;
    expect((await ask('/api/v1/jobs', { host, authorization })).status).toBe(200);
    expect((await ask('/login', { host })).status).toBe(200);
  },
);

test.each([
  'evil.example',
  'confere.example.evil.example',
  '127.0.0.1.evil.example',
  'a@confere.example',
  '203.0.113.9',
])('the API and the console are not served under %s, and what machines ask is', async (host) => {
  const authorization = `Bearer ${env.tokens.admin}`;
  for (const path of ['/', '/login', '/portal', '/api/v1/jobs', '/api/v1/events', '/nowhere'])
    expect([path, (await ask(path, { host, authorization })).status]).toEqual([path, 421]);
  for (const path of ['/healthz', '/readyz', '/metrics', '/.well-known/confere-manifest-keys.json'])
    expect([path, (await ask(path, { host })).status]).not.toEqual([path, 421]);
  const { statusCode } = await request(`${env.url}/webhooks/pix`, {
    method: 'POST',
    headers: { host, authorization: `Bearer ${env.webhookSecret}`, 'x-forwarded-for': '203.0.113.7' },
    body: '{"transaction_id":"0f0e0d0c-0000-4000-8000-000000000001"}',
  });
  expect(statusCode).toBe(200);
});

test('a service that listens on all addresses answers under each of them, and under no other name', async () => {
  const config = { ...env.context.config, HOST: '0.0.0.0' };
  const context = { ...env.context, config };
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const url = `http://127.0.0.1:${server.port}`;
  expect((await ask('/login', { host: '192.168.1.5:3000' }, url)).status).toBe(200);
  expect((await ask('/login', { host: 'evil.example' }, url)).status).toBe(421);
});

test('a browser that met the console over https stays there', async () => {
  const year = 'max-age=31536000';
  expect((await ask('/login', { host: 'confere.example' })).headers['strict-transport-security']).toBe(year);
  const context = { ...env.context, config: { ...env.context.config, PUBLIC_URL: 'http://confere.example' } };
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const plain = await ask('/login', {}, `http://127.0.0.1:${server.port}`);
  expect([plain.status, plain.headers['strict-transport-security']]).toEqual([200, undefined]);
});

test.each(['203.0.113.7:51234', '[2001:db8::7]:443', '2001:db8::7', '[2001:db8::7]', ' 203.0.113.7 '])(
  'a webhook that a proxy forwards for %s comes from that address',
  async (address) => {
    const { statusCode } = await request(`${env.url}/webhooks/pix`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.webhookSecret}`, 'x-forwarded-for': address },
      body: '{"transaction_id":"0f0e0d0c-0000-4000-8000-000000000002"}',
    });
    expect(statusCode).toBe(200);
  },
);

test.each(['198.51.100.7:51234', '203.0.113.7.evil:80', '203.0.113.7:51234:1', 'unknown'])(
  'a webhook that a proxy forwards for %s comes from no address of WEBHOOK_ALLOW',
  async (address) => {
    const { statusCode } = await request(`${env.url}/webhooks/pix`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.webhookSecret}`, 'x-forwarded-for': address },
      body: '{"transaction_id":"0f0e0d0c-0000-4000-8000-000000000003"}',
    });
    expect(statusCode).toBe(403);
  },
);

test('METRICS_ALLOW says who scrapes without a token, beside this machine', async () => {
  const context = { ...env.context, config: { ...env.context.config, METRICS_ALLOW: ['192.168.7.0/24'] } };
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const from = async (address: string) =>
    (await ask('/metrics', { 'x-forwarded-for': address }, `http://127.0.0.1:${server.port}`)).status;
  expect([await from('192.168.7.9'), await from('192.168.8.9'), await from('127.0.0.1')]).toEqual([200, 401, 200]);
});

test('a session ends 8 hours after its person’s last request, and 12 hours after the login at the latest', async () => {
  const { context, timers } = env;
  const open = () => openSession(context, env.tokens.viewer);
  const [idle, live, used] = [await open(), await open(), await open()];
  for (let hours = 1; hours < 8; hours++) {
    await timers.advance(HOUR_MS);
    expect(await findSession(context, used)).toMatchObject({ role: 'viewer' });
    expect(await findSession(context, live, false)).toMatchObject({ role: 'viewer' });
  }
  await timers.advance(HOUR_MS);
  expect([await findSession(context, idle), await findSession(context, live, false)]).toEqual([undefined, undefined]);
  expect(await findSession(context, used)).toMatchObject({ role: 'viewer' });
  await timers.advance(4 * HOUR_MS);
  expect(await findSession(context, used)).toBeUndefined();
});

test('a page that refreshes itself keeps no session open', async () => {
  const session = await openSession(env.context, env.tokens.viewer);
  const cookie = `__Host-confere_session=${session}`;
  const ends = async () => {
    const row = await sql<{ at: Date }>`SELECT MAX(expires_at) at FROM sessions`.execute(env.context.db);
    return new Date(row.rows[0]?.at ?? 0).getTime();
  };
  const first = await ends();
  await env.timers.advance(HOUR_MS);
  expect((await ask('/', { cookie, 'sec-fetch-dest': 'empty' })).status).toBe(200);
  expect(await ends()).toBe(first);
  expect((await ask('/', { cookie, 'sec-fetch-dest': 'document' })).status).toBe(200);
  expect(await ends()).toBeGreaterThan(first + HOUR_MS / 2);
});
