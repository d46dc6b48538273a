/**
 * Every mounted route × {merchant A, merchant B, nobody}. A route that is not listed here is refused to merchants, so a new
 * one is. Routes of the portal are asked for what is A's: B gets what it would get if A did not exist.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '../../../src/access/list-audit.ts';
import { openMerchantSession, openSession } from '../../../src/access/sessions.ts';
import { revokeToken } from '../../../src/access/tokens.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant, removeMerchant, setMerchantState } from '../../../src/merchants/change-merchants.ts';
import { listRoutes } from '../../support/list-routes.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { readRow } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const PNG = Buffer.from('iVBORw0KGgo=', 'base64');
const NOBODY = '';

/** Open to everybody, without data: health, the logins, the language, files and runbooks. The provider's routes take its own credentials. */
const OPEN =
  /^(?:get \/healthz|get \/readyz|get \/\.well-known\/|(?:get|post) \/login|post \/language|get \/runbooks|get \/console\/|(?:get|post) \/portal\/(?:login|confirm)|get \/portal\/logo)/;
const PROVIDER = /^post \/webhooks\/pix/;
/** What A, B and nobody get where the address names what is A's. */
const OWN = '200 200';
const PORTAL: Record<string, string> = {
  'get /api/v1/portal': OWN,
  'get /api/v1/portal/health': OWN,
  'get /api/v1/portal/address-changes': OWN,
  'post /api/v1/portal/address-changes': OWN,
  'post /api/v1/portal/address-changes/:id/withdraw': '404 404',
  'get /api/v1/portal/changes': OWN,
  'get /api/v1/portal/callbacks': OWN,
  'get /api/v1/portal/callbacks/:id': '200 404',
  'post /api/v1/portal/callbacks/:id/redeliver': '202 404',
  'post /api/v1/portal/callbacks/replay': '202 202',
  'put /api/v1/portal/filter': OWN,
  'post /api/v1/portal/rotate-secret': OWN,
  'post /api/v1/portal/test': '202 202',
  'post /api/v1/portal/examples': '202 202',
  'post /api/v1/portal/pause': OWN,
  'post /api/v1/portal/resume': OWN,
  'get /portal': OWN,
  'get /portal/callbacks': OWN,
  'get /portal/callbacks/:id': '200 404',
  'post /portal/callbacks/:id/redeliver': '303 404',
  'get /portal/history': OWN,
  'get /portal/orders': OWN,
  'get /portal/orders.csv': OWN,
  'get /portal/orders.xlsx': OWN,
  'get /portal/orders/:id': '404 404',
  'get /portal/filter': OWN,
  'post /portal/filter': OWN,
  'get /portal/addresses': OWN,
  'post /portal/addresses': '422 422',
  'post /portal/addresses/:id/withdraw': '404 404',
  'get /portal/replay': OWN,
  'post /portal/replay': '422 422',
  'post /portal/resend-tests': '400 400',
  'get /portal/rotate-secret': OWN,
  // the API's rotation, above, was the only one of these 24 hours
  'post /portal/rotate-secret': '422 422',
  'post /portal/test': '303 303',
  'get /portal/examples': OWN,
  'post /portal/examples': OWN,
  'get /portal/messages': OWN,
  'get /portal/messages/:type': '404 404',
  'get /portal/feed': OWN,
  'get /portal/manifests/:day': '422 422',
  'get /portal/manifests/:day/ids': '422 422',
  'get /portal/docs': OWN,
  'get /portal/docs/:name': '404 404',
  'get /portal/confere-cli.tgz': OWN,
  'get /portal/pause': OWN,
  'post /portal/pause': OWN,
  'post /portal/resume': '303 303',
  'post /portal/logout': '303 303',
  'get /portal/openapi': OWN,
  'get /portal/openapi/document.json': OWN,
  'get /portal/openapi/swagger-ui-bundle.js': OWN,
  'get /portal/openapi/swagger-ui.css': OWN,
};
const BODIES: Record<string, object> = {
  'post /api/v1/portal/callbacks/replay': { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' },
  'post /api/v1/portal/address-changes': { kind: 'email', value: 'someone@example.com', dry_run: true },
  'put /api/v1/portal/filter': { filter: {}, dry_run: true },
};

type Shop = { id: string; token: string; webhookId: string; callback: string; marks: string[] };
type Answer = { status: number; text: string; to: string | null };

const home = temporaryDirectory();
let env: ConsoleEnvironment;
let a: Shop;
let b: Shop;
let sources = 0;

beforeAll(async () => {
  writeFileSync(path.join(home.path, 'portal-logo.png'), PNG);
  env = await openConsoleEnvironment({ TRUST_PROXY: '127.0.0.0/8', DATA_DIR: home.path });
  a = await addShop('Aurora', 'aaaaaaaa-0000-4000-8000-000000000001');
  b = await addShop('Boreal', 'bbbbbbbb-0000-4000-8000-000000000001');
});
afterAll(async () => {
  await env[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

/** A merchant with a platform, a payment and an answered attempt of its own. Its marks stand in no other's data. */
async function addShop(name: string, platform: string): Promise<Shop> {
  const { context } = env;
  const { merchant } = await createMerchant(context, {
    ...{ name: `Loja ${name}`, url: `http://127.0.0.1:9/${name}`, email: `ops@${name.toLowerCase()}.example` },
    ...{ filter: { platforms: [platform] }, eventsSince: new Date('2020-01-01T00:00:00Z') },
  });
  await pay(name, platform);
  const row = await context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'transaction_seq')
    .select(['callbacks.seq', 'webhook_id', 'transactions.id'])
    .where('merchant_seq', '=', merchant.seq)
    .executeTakeFirstOrThrow();
  const attempt = { number: 1, started_at: context.clock.now(), duration_ms: 5, response_status: 500 };
  await context.db
    .insertInto('callback_attempts')
    .values({
      ...{ ...attempt, callback_seq: row.seq, error_class: 'http_status', request_headers: '{"x":"y"}' },
      response_body: Buffer.from(`answer of ${name}`),
    })
    .execute();
  const token = await createMerchantToken(context, merchant.id, `Ana of ${name}`);
  const marks = [name, name.toLowerCase(), merchant.id, platform, row.webhook_id, row.id, token];
  return { id: merchant.id, token, webhookId: row.webhook_id, callback: `cb_${row.seq}`, marks };
}

async function pay(name: string, platform: string, count = 1): Promise<void> {
  const at = env.context.calendar.toWallTime(env.context.clock.now());
  const shown = Array.from(
    { length: count },
    (): ShownTransaction => ({
      ...{ id: crypto.randomUUID(), operation: 'cashin', status: 'paid', amount: '10.00', date_created: at, platform },
      ...{ reference: `ref-${name}`, extra: `extra-${name}`, name: `Payer ${name}` },
      events: [{ status: 'paid', date_created: at }],
    }),
  );
  await applyObservations(
    env.context,
    shown.map((one) => observe(one, env.context.clock.now())),
  );
}

type Sent = { token?: string; cookie?: string; form?: Record<string, string>; body?: object };

/** Sends a request a second after the one before, so that the limit of a merchant is not reached. */
async function send(route: string, address: string, sent: Sent = {}): Promise<Answer> {
  await env.timers.advance(1_000);
  return await sendNow(route, address, sent);
}

/** Each request comes from another public address: no limit of an address is reached. */
async function sendNow(route: string, address: string, sent: Sent): Promise<Answer> {
  const [method = ''] = route.split(' ');
  const source = `203.0.${Math.floor(sources / 200)}.${(sources++ % 200) + 1}`;
  const response = await fetch(`${env.url}${address}`, {
    method: method.toUpperCase(),
    redirect: 'manual',
    headers: {
      ...{ 'x-forwarded-for': source, origin: env.url },
      ...(sent.token ? { authorization: `Bearer ${sent.token}` } : {}),
      ...(sent.cookie ? { cookie: sent.cookie } : {}),
      ...(sent.body ? { 'content-type': 'application/json' } : {}),
    },
    ...(sent.form ? { body: new URLSearchParams(sent.form) } : {}),
    ...(sent.body ? { body: JSON.stringify(sent.body) } : {}),
  });
  return { status: response.status, text: await response.text(), to: response.headers.get('location') };
}

/** The address of a route, about what is A's. */
function addressOf(route: string, id = a.webhookId): string {
  const [, path = ''] = route.split(' ');
  if (path.includes('/portal/')) return path.replace(':id', id);
  return path
    .replace(/^((?:\/api\/v1)?\/merchants\/):id/, `$1${a.id}`)
    .replace(/(\/callbacks\/):id/, `$1${a.callback}`)
    .replaceAll(/:\w+/g, 'none');
}

type Session = { cookie: string; form: Record<string, string> };
const sessions = new Map<Shop, Session>();

/** A session of the portal, and the token of its forms. */
async function logIn({ token }: Shop): Promise<Session> {
  const cookie = `confere_portal=${await openMerchantSession(env.context, token)}`;
  const { text } = await send('get /portal', '/portal', { cookie });
  return { cookie, form: { form_token: formTokenOf(text) } };
}

/** What a merchant, or nobody, gets of a route of the portal. */
async function ask(route: string, shop: Shop | undefined, id?: string): Promise<Answer> {
  const isApi = route.includes(' /api/');
  const isPost = !route.startsWith('get ');
  if (isApi) {
    const body = isPost ? { body: BODIES[route] ?? {} } : {};
    return await send(route, addressOf(route, id), { token: shop?.token ?? NOBODY, ...body });
  }
  const session = shop && (sessions.get(shop) ?? (await logIn(shop)));
  if (shop && session) sessions.set(shop, session);
  if (shop && route.endsWith('/logout')) sessions.delete(shop);
  return await send(route, addressOf(route, id), {
    ...(session && { cookie: session.cookie }),
    ...(isPost && { form: session?.form ?? {} }),
  });
}

test('every route outside the portal is refused to merchants as to nobody, with a token and with a session', async () => {
  const routes = listRoutes(createApp(env.context).app).filter((route) => !OPEN.test(route) && !(route in PORTAL));
  expect(routes.length).toBeGreaterThan(120);
  const found: Record<string, unknown> = {};
  const wanted: Record<string, unknown> = {};
  const opened = await Promise.all([a, b].map(({ token }) => openMerchantSession(env.context, token)));
  for (const route of routes) {
    const isApi =
      route.includes(' /api/') || route === 'get /metrics' || route.includes(' /log/') || PROVIDER.test(route);
    // neither as the console's session nor beside it
    const cookies = [...opened.map((text) => `confere_session=${text}; confere_portal=${text}`), NOBODY];
    const credentials = isApi
      ? [a.token, b.token, NOBODY].map((token) => ({ token }))
      : cookies.map((cookie) => ({ cookie }));
    const answers = await Promise.all(credentials.map((one) => sendNow(route, addressOf(route), one)));
    found[route] = answers.map(({ status, to }) => (to?.startsWith('/login') ? 'login' : status)).join(' ');
    // of events, a token of the portal reads with peek=true alone
    const isTheirs = PROVIDER.test(route);
    // of the merchant of the token: service/manifests
    const isManifest = route.includes('/manifests/');
    wanted[route] = route.endsWith('/api/v1/openapi.json')
      ? '200 200 401'
      : isManifest
        ? '422 422 401'
        : isApi
          ? isTheirs
            ? '401 401 401'
            : '403 403 401'
          : 'login login login';
    const own = a.marks.filter((mark) => mark !== a.id);
    expect(answers.filter(({ text }) => own.some((mark) => text.includes(mark)))).toEqual([]);
  }
  expect(found).toEqual(wanted);
});

test('a session of ours opens no page of the portal, and a token of ours none of its routes', async () => {
  const session = await openSession(env.context, env.tokens.admin);
  for (const route of Object.keys(PORTAL)) {
    const isApi = route.includes(' /api/');
    const cookie = `confere_portal=${session}; confere_session=${session}`;
    const { status, to } = await send(route, addressOf(route), isApi ? { token: env.tokens.admin } : { cookie });
    expect([route, isApi ? status : to?.replace(/\?.*/, '')]).toEqual([route, isApi ? 401 : '/portal/login']);
  }
});

test('the portal answers each merchant with its own data alone, and nobody not at all', async () => {
  const mounted = listRoutes(createApp(env.context).app).filter((route) => /^\w+ (?:\/api\/v1)?\/portal/.test(route));
  expect(mounted.filter((route) => !OPEN.test(route)).sort()).toEqual(Object.keys(PORTAL).sort());
  const found: Record<string, string> = {};
  for (const route of Object.keys(PORTAL)) {
    const [forA, forB, forNobody] = [await ask(route, a), await ask(route, b), await ask(route, undefined)];
    found[route] = `${forA.status} ${forB.status}`;
    const refused = forNobody.to?.startsWith('/portal/login') ? 'login' : forNobody.status;
    expect([route, refused]).toEqual([route, route.includes(' /api/') ? 401 : 'login']);
    // the address itself repeats the id that was asked for
    const isAsked = (mark: string): boolean => route.includes(':id') && mark === a.webhookId;
    expect([route, a.marks.filter((mark) => !isAsked(mark) && forB.text.includes(mark))]).toEqual([route, []]);
    expect([route, b.marks.filter((mark) => forA.text.includes(mark))]).toEqual([route, []]);
    // row numbers count the callbacks of all merchants
    expect([route, /\bcb_\d/.test(forA.text)]).toEqual([route, false]);
  }
  expect(found).toEqual(PORTAL);
});

test('what is of another merchant is answered as what does not exist, by id, search, cursor and preview', async () => {
  const nothing = 'msg_00000000000000000000000000000000';
  for (const route of Object.keys(PORTAL).filter((one) => one.includes(':id'))) {
    const [theirs, none] = [await ask(route, b, a.webhookId), await ask(route, b, nothing)];
    const plain = ({ text }: Answer) =>
      text.replaceAll(a.webhookId, nothing).replaceAll(/name="form_token" value="[^"]+"/g, '');
    expect([route, plain(theirs)]).toEqual([route, plain(none)]);
  }
  const get = (query: string) => send('get', `/api/v1/portal/callbacks?${query}`, { token: b.token });
  const [transaction] = a.marks.slice(5);
  for (const [theirs, none] of [
    ['reference=ref-Aurora', 'reference=none'],
    ['extra=extra-Aurora', 'extra=none'],
    [`transaction_id=${transaction}`, 'transaction_id=none'],
    [`cursor=${Buffer.from(a.webhookId).toString('base64url')}`, `cursor=${Buffer.from('none').toString('base64url')}`],
  ]) {
    const [found, nowhere] = [await get(theirs ?? ''), await get(none ?? '')];
    expect([theirs, found]).toEqual([theirs, nowhere]);
  }
  const own = JSON.parse((await get('reference=ref-Boreal&extra=extra-Boreal')).text) as {
    callbacks: { id: string }[];
  };
  expect(own.callbacks.map(({ id }) => id)).toEqual([b.webhookId]);
});

test('nothing that a merchant reads depends on how much another one has', async () => {
  await runBackfills(env.context);
  const read = async () => {
    const { text } = await send('get', '/api/v1/portal', { token: b.token });
    const { backfill } = JSON.parse(text) as { backfill: object };
    expect(Object.keys(backfill).sort()).toEqual(['enqueued', 'finished_at', 'from', 'started_at', 'state']);
    const put = await send('put', '/api/v1/portal/filter', {
      token: b.token,
      body: { filter: { statuses: ['x'] }, dry_run: true },
    });
    const health = JSON.parse((await send('get', '/api/v1/portal/health', { token: b.token })).text) as object;
    const list = await send('get', '/api/v1/portal/callbacks?limit=1', { token: b.token });
    return [put.text, { ...health, hours: null, next_attempt_at: null }, list.text];
  };
  const before = await read();
  // more than a term is read by: then B's own callbacks are compared
  await pay('Boreal', a.marks[3] ?? '', 201);
  expect(await read()).toEqual(before);
  const { text } = await send('get', '/api/v1/portal/callbacks?reference=ref-Boreal', { token: b.token });
  expect((JSON.parse(text) as { callbacks: { id: string }[] }).callbacks.map(({ id }) => id)).toEqual([b.webhookId]);
});

test('pages of callbacks follow each other by day, each callback once', async () => {
  const found: string[] = [];
  const get = async (query: string) => {
    const { text } = await send('get', `/api/v1/portal/callbacks?limit=90&${query}`, { token: a.token });
    return JSON.parse(text) as { callbacks: { id: string; reference: string | null }[]; next_cursor: string | null };
  };
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(`reference=ref-Boreal${cursor && `&cursor=${cursor}`}`);
    found.push(...page.callbacks.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  expect([found.length, new Set(found).size]).toEqual([201, 201]);
  const day = env.context.calendar.dayOf(env.context.clock.now());
  expect((await get(`from=${day}&to=${day}`)).callbacks).toHaveLength(90);
  expect((await get('to=2020-01-01')).callbacks).toEqual([]);
});

test('a change without the token of its form, or from another site, is refused', async () => {
  const { cookie, form } = await logIn(a);
  for (const route of Object.keys(PORTAL).filter((one) => one.startsWith('post /portal'))) {
    expect([route, (await send(route, addressOf(route), { cookie, form: {} })).status]).toEqual([route, 403]);
    const response = await fetch(`${env.url}${addressOf(route)}`, {
      method: 'POST',
      headers: { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams(form),
    });
    expect([route, response.status]).toEqual([route, 403]);
    await env.timers.advance(1_000);
  }
});

test('changes and reads of persons are audited by the token, with its name', async () => {
  const rows = await listAudit(env.context.db, {}, { limit: 1000, before: undefined });
  const own = rows.filter((row) => row.actor_name === 'Ana of Aurora');
  const actions = new Set(own.map(({ action, detail }) => `${action} ${detail?.split(' ')[0] ?? 'api'}`));
  for (const action of ['callback.redelivered', 'callbacks.show', 'merchant.tested', 'merchant.enabled'])
    expect(actions).toContain(`${action} portal`);
  // in the portal it has a preview before (pages.test.ts)
  expect(actions).toContain('merchant.paused api');
  expect(actions).toContain('merchant.secret_rotated url');
  expect(own.filter(({ target }) => [b.id, b.callback].includes(target))).toEqual([]);
});

test('behind an open breaker, and while paused, a redelivery and a replay say that nothing would be sent', async () => {
  const since = new Date(env.context.clock.now().getTime() - 600_000);
  const breaker = { failures: 10, failing_since: since, breaker_opened_at: since };
  await env.context.db.updateTable('merchants').set(breaker).where('id', '=', a.id).execute();
  const range = { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
  const post = (path: string, body: object = {}) => send('post', `/api/v1/portal/${path}`, { token: a.token, body });
  for (const answer of [await post(`callbacks/${a.webhookId}/redeliver`), await post('callbacks/replay', range)])
    expect([answer.status, answer.text]).toEqual([
      409,
      expect.stringContaining('the circuit breaker holds all callbacks'),
    ]);
  expect((await post('callbacks/replay', { ...range, dry_run: true })).status).toBe(200);
  const { cookie, form } = await logIn(a);
  const page = await send('get', `/portal/callbacks/${a.webhookId}`, { cookie });
  expect(page.text).toContain('o disjuntor está aberto');
  expect(page.text).not.toContain('/redeliver"');
  // a test goes out, and closes the breaker if there is no test address
  expect((await send('get', '/portal', { cookie })).text).toContain(
    'se for aceito, o disjuntor fecha e as mensagens retidas saem',
  );
  const tested = JSON.parse((await post('test')).text) as { id: string };
  const ofTest = (await send('get', `/portal/callbacks/${tested.id}`, { cookie })).text;
  expect(ofTest).toContain('Testes e exemplos saem também com os envios retidos');
  expect(ofTest).not.toContain('Nada é enviado agora');
  const typed = { ...form, from: '2020-01-01T00:00', to: '2030-01-01T00:00', states: 'all' };
  expect((await send('post', '/portal/replay', { cookie, form: typed })).status).toBe(422);
  const health = JSON.parse((await send('get', '/api/v1/portal/health', { token: a.token })).text) as object;
  expect(health).toMatchObject({ held_because: 'breaker', failing_since: since.toISOString() });
  expect((await post('resume')).status).toBe(200);
  expect((await post(`callbacks/${a.webhookId}/redeliver`)).status).toBe(202);
  await setMerchantState(env.context, a.id, 'paused');
  expect((await post(`callbacks/${a.webhookId}/redeliver`)).text).toContain('enable it first');
  expect((await post('resume')).text).toContain('only they can enable it');
  await setMerchantState(env.context, a.id, 'enabled');
});

test('a command gives a merchant a token, which the list shows with its merchant', async () => {
  const create = (...more: string[]) => runCommandInProcess(['tokens', 'create', '--json', ...more], env.env);
  const made = await create('--role', 'merchant', '--merchant', b.id, '--name', 'cli');
  const { token, merchant } = JSON.parse(made.out) as { token: string; merchant: string };
  expect(merchant).toBe(b.id);
  expect(JSON.parse((await send('get', '/api/v1/portal', { token })).text)).toMatchObject({ id: b.id });
  for (const wrong of [
    ['--role', 'merchant'],
    ['--role', 'viewer', '--merchant', b.id],
  ])
    expect((await create(...wrong)).code).toBe(2);
  const { text } = await send('get', '/api/v1/tokens', { token: env.tokens.admin });
  const { tokens } = JSON.parse(text) as { tokens: { name: string; role: string; merchant: string | null }[] };
  expect(tokens.find(({ name }) => name === 'cli')).toMatchObject({ role: 'merchant', merchant: b.id });
});

test('more than ten requests of a merchant in a second are refused, and delay no other merchant', async () => {
  env.timers.freeze();
  await env.timers.advance(1_000 - (env.timers.monotonicMs() % 1_000));
  const get = (token: string) => fetch(`${env.url}/api/v1/portal`, { headers: { authorization: `Bearer ${token}` } });
  const statuses: number[] = [];
  for (let request = 0; request < 11; request++) statuses.push((await get(a.token)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  expect((await get(a.token)).headers.get('retry-after')).toBe('1');
  expect((await get(b.token)).status).toBe(200);
});

test('a token that is revoked, and a merchant that is removed, open nothing any more', async () => {
  const [session] = [await logIn(a)];
  const { id } = await readRow(env.context.db, 'tokens', ['id'], { name: 'Ana of Aurora' });
  await revokeToken(env.context, id);
  expect((await send('get', '/api/v1/portal', { token: a.token })).status).toBe(401);
  expect((await send('get', '/portal', { cookie: session.cookie })).to).toBe('/portal/login');
  const other = await logIn(b);
  await removeMerchant(env.context, b.id);
  expect((await send('get', '/api/v1/portal', { token: b.token })).status).toBe(401);
  expect((await send('get', '/portal', { cookie: other.cookie })).to).toBe('/portal/login');
});
