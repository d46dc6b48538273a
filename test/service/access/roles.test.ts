/** Access to each route with each role, a merchant's token, and none. A new route is entered in route-examples.ts. */
import { beforeAll, expect, test } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { issuePullToken } from '../../../src/merchants/pull-token.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { listRoutes } from '../../support/list-routes.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';
import { API_ROLES, CONSOLE_ROLES } from '../../support/route-examples.ts';

const CALLERS = ['nobody', 'merchant', 'viewer', 'accountant', 'operator', 'admin'] as const;
type Caller = (typeof CALLERS)[number];

/** The portal is for merchants alone: `service/portal/isolation`. */
const PORTAL = /^\w+ (?:\/api\/v1)?\/portal/;
/** Before the session: the login itself, the language, files, and a search that is posted to be sealed into an address. */
const OPEN = [
  'get /login',
  'post /login',
  'post /logout',
  'post /language',
  ...['console.css', 'console.js', 'openapi.js', 'icon.svg'].map((file) => `get /console/${file}`),
];

const env = closeAfterAll(await openConsoleEnvironment());
let tokens: Record<Caller, string>;
beforeAll(async () => {
  const { merchant } = await createMerchant(env.context, { name: 'puller', url: 'http://127.0.0.1:9/' });
  const pull = await issuePullToken(env.context, merchant.id);
  tokens = { nobody: '', merchant: pull, ...env.tokens };
});

test('every route that is mounted stands in the table, and no other', () => {
  const mounted = listRoutes(createApp(env.context).app)
    .filter((route) => !PORTAL.test(route))
    .sort();
  expect(mounted).toEqual([...Object.keys(API_ROLES), ...Object.keys(CONSOLE_ROLES), ...OPEN].sort());
});

test('each route of the API admits the roles of the table: others get 403, strangers and merchants 401', async () => {
  const found: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  for (const [route, allowed] of Object.entries(API_ROLES)) {
    wanted[route] = CALLERS.map((caller) =>
      allowed.split(' ').includes(caller) ? 'in' : refusalOf(route, caller),
    ).join();
    const statuses = [];
    for (const caller of CALLERS) statuses.push(await ask(route, tokens[caller]));
    found[route] = statuses.map((status) => ([401, 403].includes(status) ? status : 'in')).join();
  }
  expect(found).toEqual(wanted);
});

test('each page and form of the console lets in whom the table names, and strangers to the login alone', async () => {
  const found: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  const sessions = new Map<Caller, Session>();
  for (const caller of CALLERS.slice(2)) sessions.set(caller, await logIn(tokens[caller]));
  for (const [route, allowed] of Object.entries(CONSOLE_ROLES)) {
    wanted[route] = CALLERS.map((caller) => {
      if (allowed.split(' ').includes(caller)) return 'in';
      return sessions.has(caller) ? '403' : 'login';
    }).join();
    const outcomes = [];
    for (const caller of CALLERS) outcomes.push(await open(route, sessions.get(caller)));
    found[route] = outcomes.join();
  }
  expect(found).toEqual(wanted);
});

/** A merchant is no caller of the API: it gets the answer of a stranger. */
function refusalOf(route: string, caller: Caller): number {
  const isKnown = caller !== 'nobody' && caller !== 'merchant';
  return isKnown && route.includes('/api/v1/') && !route.endsWith('/events') ? 403 : 401;
}

/** Requests resources that do not exist, with an empty body: an admitted request changes nothing. */
async function ask(route: string, token: string): Promise<number> {
  const [method = '', address = ''] = route.split(' ');
  const response = await fetch(`${env.url}${fill(address)}`, {
    method: method.toUpperCase(),
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), 'content-type': 'application/json' },
    ...(['post', 'patch', 'put'].includes(method) ? { body: '{}' } : {}),
  });
  await response.arrayBuffer();
  return response.status;
}

type Session = { cookie: string; form_token: string };

async function logIn(token: string): Promise<Session> {
  const cookie = `confere_session=${await openSession(env.context, token)}`;
  const home = await (await fetch(`${env.url}/`, { headers: { cookie } })).text();
  return { cookie, form_token: formTokenOf(home) };
}

async function open(route: string, session: Session | undefined): Promise<string> {
  const [method = '', address = ''] = route.split(' ');
  const { cookie, form_token = '' } = session ?? {};
  const headers = { origin: env.url, ...(cookie ? { cookie } : {}) };
  const response = await fetch(`${env.url}${fill(address)}`, {
    method: method.toUpperCase(),
    redirect: 'manual',
    headers,
    ...(method === 'post' ? { body: new URLSearchParams({ form_token }) } : {}),
  });
  await response.arrayBuffer();
  if (response.headers.get('location')?.startsWith('/login')) return 'login';
  return [401, 403].includes(response.status) ? String(response.status) : 'in';
}

function fill(address: string): string {
  return address.replace(/:\w+/g, 'none');
}
