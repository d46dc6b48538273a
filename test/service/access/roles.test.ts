/** Access to each route with each role, a merchant's token, and none. A new route of the API has to be entered here. */
import { beforeAll, expect, test } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { issuePullToken } from '../../../src/merchants/pull-token.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { CONSOLE_ROLES } from '../../support/console-examples.ts';
import { listRoutes } from '../../support/list-routes.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';

const CALLERS = ['nobody', 'merchant', 'viewer', 'accountant', 'operator', 'admin'] as const;
type Caller = (typeof CALLERS)[number];

const READERS = 'viewer accountant operator admin';
const OPERATORS = 'operator admin';
const ACCOUNTANTS = 'accountant admin';
const ADMINS = 'admin';
const ALL = `nobody merchant ${READERS}`;

/** The roles that may call each route of the program interfaces. The provider's routes take its own credentials: see the receiver. */
const API: Record<string, string> = {
  'get /healthz': ALL,
  'get /readyz': ALL,
  // from loopback
  'get /metrics': ALL,
  'post /webhooks/pix': '',
  'post /webhooks/pix/:token': '',
  'get /api/v1/events': 'merchant',
  'get /.well-known/confere-manifest-keys.json': ALL,
  // with a merchant's token: its own alone
  'get /api/v1/manifests/:day': `merchant ${READERS}`,
  'get /api/v1/manifests/:day/ids': `merchant ${READERS}`,
  'get /log/checkpoint': READERS,
  'get /log/tile/*tile': READERS,
  'get /api/v1/log/proof': READERS,
  'get /api/v1/openapi.json': READERS,
  'get /api/v1/transactions': READERS,
  'get /api/v1/transactions/:id': READERS,
  'get /api/v1/transactions/proof': READERS,
  'get /api/v1/balances': READERS,
  'get /api/v1/numbers': READERS,
  'get /api/v1/series/money': READERS,
  'get /api/v1/series/callbacks': READERS,
  'get /api/v1/jobs': READERS,
  'get /api/v1/expected-payments.csv': READERS,
  'get /api/v1/openings': READERS,
  'post /api/v1/openings': ADMINS,
  'get /api/v1/adjustments': READERS,
  'post /api/v1/adjustments': ACCOUNTANTS,
  'get /api/v1/statements': READERS,
  'post /api/v1/statements': 'accountant admin',
  'get /api/v1/bank': READERS,
  'post /api/v1/bank/imports': ACCOUNTANTS,
  'get /api/v1/bank/accounts': READERS,
  'put /api/v1/bank/accounts': ACCOUNTANTS,
  'post /api/v1/bank/lines/:id/mark': ACCOUNTANTS,
  'post /api/v1/bank/lines/:id/unmark': ACCOUNTANTS,
  'get /api/v1/bank/statements': READERS,
  'get /api/v1/bank/lines': READERS,
  'get /api/v1/bank/entries': READERS,
  'get /api/v1/bank/matches': READERS,
  'post /api/v1/bank/match': ACCOUNTANTS,
  'post /api/v1/bank/matches': ACCOUNTANTS,
  'post /api/v1/bank/matches/:id/undo': ACCOUNTANTS,
  'get /api/v1/expected-payments': READERS,
  'get /api/v1/expected-payments/:id': READERS,
  'get /api/v1/expected-payments/:source/:number': READERS,
  'put /api/v1/expected-payments/:source/:number': 'accountant operator admin',
  'post /api/v1/expected-payments': 'accountant operator admin',
  'delete /api/v1/expected-payments/:source/:number': 'accountant operator admin',
  'post /api/v1/expected-payments/:id/reopen': 'accountant operator admin',
  'post /api/v1/expected-payments/:id/match': 'accountant operator admin',
  'post /api/v1/expected-payments/:id/unmatch': 'accountant operator admin',
  'get /api/v1/commissions': READERS,
  'post /api/v1/commissions': ACCOUNTANTS,
  'get /api/v1/fees': READERS,
  'get /api/v1/reconciliations': READERS,
  'post /api/v1/reconciliations': OPERATORS,
  'get /api/v1/reconciliations/:id': READERS,
  'get /api/v1/reconciliations/:id/pages': READERS,
  'get /api/v1/alerts': READERS,
  'get /api/v1/platforms': READERS,
  'put /api/v1/platforms': 'accountant operator admin',
  'get /api/v1/accounts': READERS,
  'put /api/v1/accounts': ACCOUNTANTS,
  'get /api/v1/imports': READERS,
  'post /api/v1/imports/:kind': 'accountant operator admin',
  'get /api/v1/imports/:kind/:file': READERS,
  'get /api/v1/mismatches': READERS,
  'get /api/v1/mismatches.xlsx': READERS,
  'get /api/v1/mismatches/:id': READERS,
  'post /api/v1/mismatches/:id/acknowledge': OPERATORS,
  'post /api/v1/mismatches/:id/resolve': OPERATORS,
  'post /api/v1/mismatches/:id/assign': 'accountant operator admin',
  'post /api/v1/mismatches/resolve': OPERATORS,
  'post /api/v1/mismatches/:id/accept': OPERATORS,
  'get /api/v1/reports': READERS,
  'post /api/v1/reports': 'accountant operator admin',
  'get /api/v1/reports/:file': READERS,
  'get /api/v1/months': READERS,
  'get /api/v1/months/:month': READERS,
  'post /api/v1/months/:month/close': ACCOUNTANTS,
  'post /api/v1/months/:month/reopen': ADMINS,
  'get /api/v1/webhooks': READERS,
  'get /api/v1/webhooks/:id': READERS,
  'post /api/v1/webhooks/:id/reprocess': OPERATORS,
  'get /api/v1/callbacks': READERS,
  'get /api/v1/callbacks/:id': READERS,
  'post /api/v1/callbacks/:id/redeliver': OPERATORS,
  'post /api/v1/callbacks/replay': OPERATORS,
  'get /api/v1/merchants': READERS,
  'post /api/v1/merchants': ADMINS,
  'get /api/v1/merchants/:id': READERS,
  'patch /api/v1/merchants/:id': ADMINS,
  'delete /api/v1/merchants/:id': ADMINS,
  'post /api/v1/merchants/:id/rotate-secret': ADMINS,
  'get /api/v1/merchants/:id/address-changes': READERS,
  'post /api/v1/merchants/:id/address-changes': ADMINS,
  'post /api/v1/merchants/:id/enable': ADMINS,
  'post /api/v1/merchants/:id/pause': ADMINS,
  'post /api/v1/merchants/:id/test': ADMINS,
  'post /api/v1/merchants/:id/pull-token': ADMINS,
  'delete /api/v1/merchants/:id/pull-token': ADMINS,
  'get /api/v1/tokens': ADMINS,
  'post /api/v1/tokens': ADMINS,
  'delete /api/v1/tokens/:id': ADMINS,
  'get /api/v1/audit': ADMINS,
};

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
  expect(mounted).toEqual([...Object.keys(API), ...Object.keys(CONSOLE_ROLES), ...OPEN].sort());
});

test('each route of the API admits the roles of the table: others get 403, strangers and merchants 401', async () => {
  const found: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  for (const [route, allowed] of Object.entries(API)) {
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
