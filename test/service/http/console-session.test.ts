import { expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import { revokeToken } from '../../../src/access/tokens.ts';
import type { Database } from '../../../src/database/tables.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';

const env = closeAfterAll(await openConsoleEnvironment());

test('every response of the console forbids inline code, framing and other hosts', async () => {
  for (const address of ['/login', '/', '/nothing-of-the-console', '/console/console.css']) {
    const response = await fetch(`${env.url}${address}`, { redirect: 'manual' });
    if (address === '/nothing-of-the-console') {
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      continue;
    }
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('a page says that the database is away, with what to do where it is read by operators, and the API answers 503', async () => {
  // nobody listens on port 1
  await using away = openDatabase<Database>(parseDatabaseUrl('mysql://root@127.0.0.1:1/none'));
  const context = { ...env.context, db: away.db };
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const get = async (address: string, headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${address}`, { headers });
    return [response.status, await response.text()] as const;
  };
  const [status, page] = await get('/', { cookie: `confere_session=${'a'.repeat(43)}`, accept: 'text/html' });
  expect([status, page]).toEqual([503, expect.stringContaining('O banco de dados não responde')]);
  expect(page).toContain('href="/runbooks/database_unreadable"');
  expect((await get('/runbooks/database_unreadable', {}))[0]).toBe(200);
  const portal = await get('/portal', { cookie: `confere_portal=${'a'.repeat(43)}` });
  expect(portal).toEqual([503, expect.stringContaining('O banco de dados não responde')]);
  expect(portal[1]).not.toContain('/runbooks');
  const api = await get('/api/v1/alerts', { authorization: `Bearer ${env.tokens.viewer}` });
  expect(api).toEqual([503, expect.stringContaining('the database does not answer: try again')]);
});

test('pages and the API answer 503 while the database is frozen', async () => {
  const target = parseDatabaseUrl(env.context.config.DATABASE_URL ?? '');
  using proxy = await openTcpProxy('socketPath' in target ? target.socketPath : '');
  const database = target.database ?? '';
  await using frozen = openDatabase<Database>({ host: '127.0.0.1', port: proxy.port, user: 'root', database });
  // the driver's own timers take real time
  const isDatabaseGreeting = (msMax: number) => frozen.greets(msMax / 20);
  const context = { ...env.context, db: frozen.db, isDatabaseGreeting };
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const { cookie } = await logIn(env.tokens.viewer);
  const url = `http://127.0.0.1:${server.port}`;
  const get = async (address: string, headers: Record<string, string> = {}, body?: URLSearchParams) => {
    const posted = body && { method: 'POST', body, headers: { ...headers, origin: url } };
    const response = await fetch(`${url}${address}`, { headers, ...posted });
    return [response.status, await response.text()] as const;
  };
  expect((await get('/', { cookie }))[0]).toBe(200);
  proxy.freeze();
  const asked = Promise.all([
    get('/', { cookie }),
    get('/login', {}, new URLSearchParams({ token: env.tokens.viewer })),
    get('/portal', { cookie: `confere_portal=${'a'.repeat(43)}` }),
    get('/api/v1/alerts', { authorization: `Bearer ${env.tokens.viewer}` }),
  ]);
  const [page, login, portal, api] = await advanceUntilDone(env, asked);
  const words = expect.stringContaining('O banco de dados não responde');
  expect([page, login, portal]).toEqual([
    [503, words],
    [503, words],
    [503, words],
  ]);
  expect(login[1]).toContain('O que você enviou pode ter sido gravado');
  expect(api).toEqual([503, expect.stringContaining('the database does not answer: try again')]);
  // fails what still waits
  proxy.cut();
});

test('a page without a session redirects to the login, and the login back to pages of ours only', async () => {
  const away = await fetch(`${env.url}/mismatches?state=open`, { redirect: 'manual' });
  expect(away.status).toBe(303);
  expect(away.headers.get('location')).toBe('/login?next=%2Fmismatches%3Fstate%3Dopen');
  expect(away.headers.get('cache-control')).toBe('no-store');
  for (const [next, expected] of [
    ['/transactions?id=1', '/transactions?id=1'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['/..//evil.example/', '/'],
    ['javascript:alert(1)', '/'],
  ]) {
    const { response } = await logIn(env.tokens.viewer, { next: next ?? '' });
    expect(response.headers.get('location'), next).toBe(expected);
  }
});

test('no script and no other site can use the cookie, and only its hash is stored', async () => {
  const { cookie, header } = await logIn(env.tokens.viewer);
  expect(header).toMatch(/; HttpOnly/);
  expect(header).toMatch(/; SameSite=Strict/);
  expect(header).not.toMatch(/Secure/);
  const rows = await env.context.db.selectFrom('sessions').select('session_hash').execute();
  expect(rows.map((row) => row.session_hash.toString('base64url'))).not.toContain(cookie.split('=')[1]);
});

test('behind https the cookie is Secure and bound to the host', async () => {
  await using secure = await openConsoleEnvironment({ PUBLIC_URL: 'https://confere.example' });
  const { header } = await logIn(secure.tokens.viewer, {}, { origin: 'https://confere.example' }, secure.url);
  expect(header).toMatch(/^__Host-confere_session=/);
  expect(header).toMatch(/; Secure/);
  expect(header).toMatch(/; Path=\//);
});

test('a wrong token, or a login from another site, opens no session', async () => {
  const wrong = await logIn('nonsense');
  expect(wrong.response.status).toBe(401);
  expect(wrong.header).toBe('');
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { origin: '' }]) {
    const forged = await logIn(env.tokens.admin, {}, headers);
    expect(forged.response.status).toBe(403);
    expect(forged.header).toBe('');
  }
});

test('a merchant’s token at the console’s login opens the portal', async () => {
  const { merchant } = await createMerchant(env.context, { name: 'shop', url: 'https://shop.example/' });
  const token = await createMerchantToken(env.context, merchant.id);
  const post = (path: string) =>
    fetch(`${env.url}${path}`, {
      ...{ method: 'POST', redirect: 'manual', headers: { origin: env.url } },
      body: new URLSearchParams({ token, next: '/' }),
    });
  const there = await post('/login');
  // 307: the browser posts the same form again
  expect([there.status, there.headers.get('location')]).toEqual([307, '/portal/login']);
  const opened = await post('/portal/login');
  expect([opened.status, opened.headers.get('location')]).toEqual([303, '/portal']);
  expect(opened.headers.get('set-cookie')).toContain('confere_portal=');
});

test('a form from another site, without its token, or with another session’s, changes nothing', async () => {
  const { cookie } = await logIn(env.tokens.operator);
  const other = await logIn(env.tokens.operator);
  const [own, strange] = [await formToken(cookie), await formToken(other.cookie)];
  expect(own).not.toBe(strange);
  const { id } = await env.context.db.selectFrom('mismatches').select('id').limit(1).executeTakeFirstOrThrow();
  const post = (token: string, headers: Record<string, string>) =>
    fetch(`${env.url}/mismatches/${id}/resolve`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, ...headers },
      body: new URLSearchParams({ form_token: token, note: 'x', step: 'confirm' }),
    });
  expect((await post(own, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(own, { origin: env.url, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await post(own, {})).status).toBe(403);
  expect((await post('', { origin: env.url })).status).toBe(403);
  expect((await post(strange, { origin: env.url })).status).toBe(403);
  const before = await env.context.db.selectFrom('mismatches').select('state').where('id', '=', id).executeTakeFirst();
  expect(before?.state).toBe('open');
  expect((await post(own, { origin: env.url })).status).toBe(303);
  expect((await post(own, { origin: env.url })).status).toBe(409);
});

test('a session ends with its token', async () => {
  const { cookie } = await logIn(env.tokens.viewer);
  const visit = () => fetch(`${env.url}/`, { headers: { cookie }, redirect: 'manual' });
  expect((await visit()).status).toBe(200);
  const token = await env.context.db.selectFrom('tokens').select('id').where('role', '=', 'viewer').executeTakeFirst();
  await revokeToken(env.context, token?.id ?? '');
  expect((await visit()).status).toBe(303);
});

async function logIn(
  token: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
  url = env.url,
) {
  const response = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, ...headers },
    body: new URLSearchParams({ token, ...fields }),
  });
  await response.text();
  const header = response.headers.get('set-cookie') ?? '';
  return { response, header, cookie: header.split(';')[0] ?? '' };
}

async function formToken(cookie: string): Promise<string> {
  const page = await (await fetch(`${env.url}/`, { headers: { cookie } })).text();
  return formTokenOf(page);
}
