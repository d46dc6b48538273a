import { beforeAll, expect, it } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { asSent, hiddenFields } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';

const env = closeAfterAll(await openCallbackEnvironment());
let url: string;
let cookie: string;

beforeAll(async () => {
  const server = env.use(await serveHttp(env.context, createApp(env.context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  const { merchant } = await env.addMerchant('https://loja.example/pix');
  const options = { name: 'engineer', role: 'merchant', merchant: merchant.id, sources: ['shop'] } as const;
  const { token } = await createToken(env.context, options);
  cookie = `confere_portal=${await openMerchantSession(env.context, token)}`;
});

async function send(address: string, language: string, fields?: Record<string, string>) {
  await env.timers.advance(1_000);
  const headers = { cookie, origin: url, 'accept-language': language };
  const posted = async () => {
    const { form_token = '' } = hiddenFields((await (await fetch(`${url}/portal`, { headers })).text()) ?? '');
    return { method: 'POST', body: new URLSearchParams([...asSent(fields ?? {}), ['form_token', form_token]]) };
  };
  const response = await fetch(`${url}${address}`, { headers, redirect: 'manual', ...(fields ? await posted() : {}) });
  return { status: response.status, html: await response.text() };
}

const RANGE = { from: '2026-11-20T00:00:00', to: '2026-11-21T00:00:00', states: 'all' };
const LONG = 'x'.repeat(600);
const ENGLISH = /\b(?:the|is|be|of|must|too|invalid|than|not|an|expected|with|has|have|there|no such|it)\b/i;

it.each<[string, Record<string, string>?]>([
  ['/portal/login', { token: 'cfm_nothing' }],
  ['/portal/filter', { extra_match: 'store' }],
  ['/portal/filter', { extra_match: '__proto__=1' }],
  ['/portal/filter', { reference_prefixes: LONG }],
  ['/portal/filter', { platforms: LONG }],
  ['/portal/filter', { extra_match: `store=${LONG}` }],
  ['/portal/replay', { ...RANGE, from: 'yesterday' }],
  ['/portal/replay', { ...RANGE, to: RANGE.from }],
  ['/portal/replay', { ...RANGE, states: 'held' }],
  ['/portal/replay', RANGE],
  ['/portal/addresses', { kind: 'url', value: '' }],
  ['/portal/addresses', { kind: 'url', value: 'nonsense' }],
  ['/portal/addresses', { kind: 'url', value: 'ftp://loja.example/' }],
  ['/portal/addresses', { kind: 'url', value: 'https://loja.example/pix' }],
  ['/portal/addresses', { kind: 'url', value: `https://loja.example/${LONG.repeat(4)}` }],
  ['/portal/addresses', { kind: 'test_url', value: 'nonsense' }],
  ['/portal/addresses', { kind: 'email', value: '' }],
  ['/portal/addresses', { kind: 'email', value: 'nobody' }],
  ['/portal/examples', { type: 'pix.cashin.none' }],
  ['/portal/resend-tests', { from: 'yesterday' }],
  ['/portal/resend-tests', {}],
  ['/portal/callbacks?state=lost'],
  ['/portal/callbacks?from=2026-13-01'],
  ['/portal/callbacks?from=a&from=b'],
  ['/portal/callbacks?limit=0'],
  ['/portal/callbacks?cursor=none'],
  ['/portal/history?action=none'],
  ['/portal/history?cursor=none'],
  ['/portal/orders?state=lost'],
  ['/portal/orders?due_from=2026-02-30'],
  ['/portal/orders?cursor=none'],
  ['/portal/manifests/today'],
  ['/portal/confirm?token=none'],
])('a bad value is refused in the language of the reader: %s %j', async (address, fields) => {
  const found = await send(address, 'pt-BR', fields);
  expect(found.status).toBeGreaterThanOrEqual(400);
  expect(found.status).toBeLessThan(500);
  const said = [
    ...found.html.matchAll(/class="fault"[^>]*>([^<]*)</g),
    ...found.html.matchAll(/<li><b>\w+<\/b>: ([^<]*)</g),
    ...found.html.matchAll(/<p(?: class="technical" lang="en")?>([^<]+)<\/p>/g),
  ].map(([, text = '']) => text);
  expect(said.join(' ')).not.toBe('');
  expect(said.filter((text) => ENGLISH.test(text))).toEqual([]);
  const english = await send(address, 'en', fields);
  expect(english.status).toBe(found.status);
});
