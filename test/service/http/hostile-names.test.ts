import { expect, test } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { API_OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { issueMerchantTokens } from '../../support/issue-merchant-tokens.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

/** Names that every plain object has, or that change its prototype. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];

/** Names that have been faults: they come in every place, the others in one. */
const WORST = NAMES.slice(0, 2);

const env = closeAfterAll(await openConsoleEnvironment());
const { pullToken, portalToken } = await issueMerchantTokens(env.context);

const CHANGES = API_OPERATIONS.filter(({ method, path }) => method !== 'get' && path.startsWith('/api/v1/'));

test.each(CHANGES.map(({ method, path, access }) => ({ method, path, access })))(
  '$method $path answers a body with names of every object as a wrong one, at each depth',
  async ({ method, path, access }) => {
    const token = path.includes('/portal') ? portalToken : access === 'merchant' ? pullToken : env.tokens.admin;
    const statuses = [];
    const everywhere = WORST.flatMap((name) =>
      ['1', '[{"a":{"__proto__":{"constructor":1}}}]'].flatMap((value) => [
        ...[`{"${name}":${value}}`, `{"filter":{"extra_match":{"${name}":${value}}}}`, `[${value}]`],
      ]),
    );
    for (const body of [`{${NAMES.map((name) => `"${name}":1`).join()}}`, ...everywhere]) {
      // a merchant may ask ten times a second
      if (token === portalToken) await env.timers.advance(1_000);
      const at = { url: env.url, token };
      statuses.push((await callApi(at, method.toUpperCase(), path.replace('{id}', 'x'), body)).status);
    }
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  },
);

test.each([
  '/',
  '/mismatches',
  '/inbox',
  '/callbacks',
  '/alerts',
  '/audit',
  '/merchants',
  '/merchants/new',
  '/merchants/preview',
  '/bank',
  '/balances',
  '/charts',
  '/import',
  '/reports',
  '/transactions',
  '/runbooks/constructor',
  '/reconciliations',
])('the page %s takes names of every object as filters and as their values', async (address) => {
  const cookie = `confere_session=${await openSession(env.context, env.tokens.admin)}`;
  const fields = ['kind', 'state', 'platform', 'operation', 'status', 'severity', 'merchant', 'type', 'by', 'language'];
  for (const name of NAMES) {
    const asValues = WORST.includes(name) ? fields.map((field) => `${field}=${name}`) : [];
    for (const query of [`${name}=${name}`, ...asValues]) {
      const response = await fetch(`${env.url}${address}?${query}`, { headers: { cookie }, redirect: 'manual' });
      await response.text();
      expect([address, query, response.status < 500]).toEqual([address, query, true]);
    }
  }
});
