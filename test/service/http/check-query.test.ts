import { expect, test } from 'vitest';
import { API_OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { issueMerchantTokens } from '../../support/issue-merchant-tokens.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const { pullToken, portalToken } = await issueMerchantTokens(env.context);

const API = API_OPERATIONS.filter(({ path }) => path.startsWith('/api/v1/'));
const READS = API.filter(({ method }) => method === 'get').map(({ path, query, access }) => ({
  path,
  access,
  names: Object.keys(query?.shape ?? {}),
}));
const ACTS = API.filter(({ method }) => method !== 'get').map(({ method, path, access }) => ({ method, path, access }));

/** The token of a route's callers. */
const tokenOf = ({ path, access }: { path: string; access: unknown }): string =>
  path.includes('/portal') ? portalToken : access === 'merchant' ? pullToken : env.tokens.admin;

type Answer = { status: number; type: string | null; errors: Record<string, string[]> | undefined };

async function ask(method: string, address: string, token = env.tokens.admin): Promise<Answer> {
  // a merchant may ask ten times a second
  if (token === portalToken) await env.timers.advance(1_000);
  const path = address.replace('{file}', '2026-01-01.csv').replace('{id}', 'x');
  const body = method === 'get' ? undefined : {};
  const { status, type, json } = await callApi<Answer>({ url: env.url, token }, method.toUpperCase(), path, body);
  return { status, type: type.split(';')[0] || null, errors: json.errors };
}

test('every GET route of the API is in the table', () => {
  expect(READS.length).toBeGreaterThan(20);
});

test.each(READS)('GET $path refuses a parameter that it does not have, by its name', async ({ path, access }) => {
  expect(await ask('get', `${path}?statuss=paid&Limit=1`, tokenOf({ path, access }))).toEqual({
    status: 422,
    type: 'application/problem+json',
    errors: {
      statuss: [expect.stringContaining('is no parameter here')],
      Limit: [expect.stringContaining('is no parameter here')],
    },
  });
});

const PARAMETERS = READS.flatMap(({ path, access, names }) => names.map((name) => ({ path, access, name })));
test.each(PARAMETERS)('GET $path refuses $name given twice', async ({ path, access, name }) => {
  const { status, errors } = await ask('get', `${path}?${name}=a&${name}=b`, tokenOf({ path, access }));
  expect([status, errors]).toEqual([422, { [name]: ['is given more than once'] }]);
});

test.each(ACTS)('$method $path takes no query parameter that it does not have', async (route) => {
  const { status, errors } = await ask(route.method, `${route.path}?preview=true`, tokenOf(route));
  expect([status, errors]).toEqual([422, { preview: [expect.stringContaining('is no parameter here')] }]);
});

test('a request without a token is answered 401 before its query is checked', async () => {
  expect((await ask('get', '/api/v1/transactions?statuss=paid', 'nobody-0123456789abcdef')).status).toBe(401);
});

test.each(['0', '201', '1e2', '0x10', '-1', '', ' 5', '1.0'])('a limit of "%s" is refused', async (limit) => {
  const { status, errors } = await ask('get', `/api/v1/transactions?limit=${encodeURIComponent(limit)}`);
  expect([status, errors]).toEqual([422, { limit: ['must be a whole number from 1 to 200'] }]);
});

test('a slash at the end leads around no check', async () => {
  expect((await ask('get', '/api/v1/transactions/?statuss=paid')).status).toBe(422);
});

test.each([
  '/api/v1/Transactions',
  '/API/v1/transactions',
  '/api/v1/balanceS',
  '/Healthz',
  '/READYZ',
  '/Metrics',
  '/Login',
])('%s is no address: routes are case-sensitive', async (address) => {
  expect((await ask('get', address)).status).toBe(404);
});

test('the receiver of webhooks is case-sensitive too', async () => {
  expect((await ask('post', '/Webhooks/pix', env.webhookSecret)).status).toBe(404);
});
