import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { callApi } from '../../support/call-api.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';

const PATH = '/pix/receive?key=abc123';
let env: CallbackEnvironment;
let shop: MerchantServer;
let url: string;
let token: string;
let cookie: string;

beforeAll(async () => {
  env = await openCallbackEnvironment();
  shop = await openMerchantServer();
  const server = env.use(await serveHttp(env.context, createApp(env.context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  const { merchant } = await env.addMerchant(`${shop.url}${PATH}`);
  token = await createMerchantToken(env.context, merchant.id);
  cookie = `confere_portal=${await openMerchantSession(env.context, token)}`;
});
afterAll(async () => {
  await env[Symbol.asyncDispose]();
  await shop[Symbol.asyncDispose]();
});

async function show(address: string, language = 'pt-BR') {
  await env.timers.advance(1_000);
  const response = await fetch(`${url}${address}`, { headers: { cookie, 'accept-language': language } });
  return { status: response.status, html: await response.text() };
}

it('the portal shows the address whole, and that it fails at the first refusal, with the answer', async () => {
  shop.behaviours[PATH] = () => (_request, response) => void response.writeHead(401).end('{"error":"which token?"}');
  env.deliverHere();
  await env.applyTransaction(['paid']);
  await eventually('the callback is refused', () => shop.calls.length > 0);
  const page = await eventually('the page says so', async () => {
    const { html } = await show('/portal');
    return html.includes('Falhando') && html;
  });
  expect(page).toContain(`${shop.url}${PATH}`);
  expect(page).toMatch(
    /não aceita nada há[\s\S]*A resposta que recebemos: HTTP 401[\s\S]*<pre>\{&quot;error&quot;:&quot;which token\?&quot;\}/,
  );
  const { json } = await callApi({ url: `${url}/api/v1/portal`, token }, 'GET', '/health');
  expect(json).toMatchObject({ last_failure: { response_status: 401, response_body: '{"error":"which token?"}' } });
});

it.each([
  ['pt-BR', 'Não encontrado', 'Não há callback com este id.', '/portal/callbacks/none'],
  ['pt-BR', 'Não encontrado', 'Não há nada neste endereço.', '/portal/nothing'],
  ['en', 'Not found', 'There is no callback with this id.', '/portal/callbacks/none'],
  ['en', 'Not found', 'There is nothing at this address.', '/portal/nothing'],
])('the portal says in %s what it has not found: %s, %s', async (language, title, text, address) => {
  const { status, html } = await show(address, language);
  expect(status).toBe(404);
  expect(html).toMatch(new RegExp(`<h1>${title}</h1>\\s*<p>${text}</p>\\s*<p><a href="/portal">`));
});
