import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type OidcEnvironment, openOidcEnvironment, PEOPLE } from '../../support/open-oidc-environment.ts';
import type { TokenParts } from '../../support/open-test-issuer.ts';
import { CLIENT } from '../../support/open-test-issuer.ts';
import { openVisitor, type Visit, type Visitor } from '../../support/open-visitor.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

let env: OidcEnvironment;
let log = '';
beforeAll(async () => {
  const logTo = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  env = await openOidcEnvironment({ LOG_LEVEL: 'trace' }, { logTo });
});
afterAll(() => env[Symbol.asyncDispose]());
afterEach(() => {
  env.issuer.alterIdToken = undefined;
  env.issuer.accounts = { ...PEOPLE };
});

async function countSessions(): Promise<number> {
  const row = await env.context.db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Follows the way back with a change, and expects the login page with no session. */
async function expectRefused(
  visitor: Visitor,
  url: string,
  status: number,
  says: RegExp,
  code?: string,
): Promise<Visit> {
  const before = await countSessions();
  log = '';
  const page = await visitor.visit(url);
  expect(page.status).toBe(status);
  expect(page.html).toMatch(says);
  expect(page.html).toContain('name="token"');
  expect([...visitor.cookies(env.url).keys()]).toEqual([]);
  expect(await countSessions()).toBe(before);
  // for this reason and no other
  expect(/"code":"([^"]+)"/.exec(log)?.[1]).toBe(code);
  return page;
}

const NOT_VALID = /não vale para este login/;
const NOT_BEGUN = /não começou neste navegador/;

/** The way back of a sound login, with some of its query changed. */
async function comeBack(visitor: Visitor, change: Record<string, string> = {}): Promise<string> {
  const back = new URL((await env.comeBack(visitor, 'ana')).url);
  for (const [name, value] of Object.entries(change)) back.searchParams.set(name, value);
  return back.href;
}

test.each([
  ['another state', { state: 'a'.repeat(43) }, 'OAUTH_INVALID_RESPONSE'],
  ['the issuer of somebody else', { iss: 'https://evil.example' }, 'OAUTH_INVALID_RESPONSE'],
  ['a code that was never given', { code: 'c'.repeat(43) }, 'invalid_grant'],
])('an answer with %s opens no session', async (_, change, code) => {
  const visitor = openVisitor();
  await expectRefused(visitor, await comeBack(visitor, change), 401, NOT_VALID, code);
});

test('an answer without the issuer that this one always names opens no session', async () => {
  const visitor = openVisitor();
  const back = new URL(await comeBack(visitor));
  expect(back.searchParams.get('iss')).toBe(env.issuer.url);
  back.searchParams.delete('iss');
  await expectRefused(visitor, back.href, 401, NOT_VALID, 'OAUTH_INVALID_RESPONSE');
});

test('an answer in another browser than the one that began opens no session there', async () => {
  const url = await comeBack(openVisitor());
  const victim = openVisitor();
  await expectRefused(victim, url, 401, NOT_BEGUN);
  const other = openVisitor();
  await other.visit(`${env.url}/login/oidc`);
  await expectRefused(other, url, 401, NOT_VALID, 'OAUTH_INVALID_RESPONSE');
});

test('an answer is good once: a replayed code opens no second session, with the kept cookie too', async () => {
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  const kept = visitor.cookies(env.url).get('confere_login') ?? '';
  expect((await visitor.visit(url)).html).toContain('content="0; url=/"');
  const thief = openVisitor();
  await expectRefused(thief, url, 401, NOT_BEGUN);
  thief.cookies(env.url).set('confere_login', kept);
  await expectRefused(thief, url, 401, NOT_VALID, 'invalid_grant');
});

test('a login takes ten minutes at most', async () => {
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  await env.timers.advance(10 * 60_000);
  await expectRefused(visitor, url, 401, NOT_BEGUN);
});

test('a cookie that was changed is none', async () => {
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  const sealed = Buffer.from(visitor.cookies(env.url).get('confere_login') ?? '', 'base64url');
  sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
  visitor.cookies(env.url).set('confere_login', sealed.toString('base64url'));
  await expectRefused(visitor, url, 401, NOT_BEGUN);
});

const now = () => Math.floor(Date.now() / 1000);
const withPayload =
  (change: () => Record<string, unknown>) =>
  ({ header, payload }: TokenParts): TokenParts => ({ header, payload: { ...payload, ...change() } });
const withHeader =
  (change: Record<string, unknown>) =>
  ({ header, payload }: TokenParts): TokenParts => ({ header: { ...header, ...change }, payload });

test.each([
  ['another nonce', withPayload(() => ({ nonce: 'n'.repeat(43) })), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  ['no nonce', withPayload(() => ({ nonce: undefined })), 'OAUTH_INVALID_RESPONSE'],
  [
    'a time that is over',
    withPayload(() => ({ iat: now() - 3600, exp: now() - 60 })),
    'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  ],
  ['another audience', withPayload(() => ({ aud: 'somebody-else' })), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  ['another issuer', withPayload(() => ({ iss: 'https://evil.example' })), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  ['a key that the issuer does not have', withHeader({ kid: 'other' }), 'OAUTH_KEY_SELECTION_FAILED'],
  ['no signature: alg none', withHeader({ alg: 'none' }), 'OAUTH_INVALID_RESPONSE'],
  ['an algorithm that the issuer does not use', withHeader({ alg: 'HS256' }), 'OAUTH_INVALID_RESPONSE'],
])('an ID token with %s opens no session', async (_, alter, code) => {
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  env.issuer.alterIdToken = alter;
  await expectRefused(visitor, url, 401, NOT_VALID, code);
});

test('an ID token whose payload was changed under its signature opens no session', async () => {
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  // signed for another payload: the signature is that of `name`, the payload has more
  env.issuer.alterIdToken = (parts) => ({ ...parts, forged: { groups: ['admins'] } });
  await expectRefused(visitor, url, 401, NOT_VALID, 'OAUTH_INVALID_RESPONSE');
});

test.each([
  ['pt-BR', /não enviou os seus grupos ao Confere: são muitos para o login/],
  ['en', /did not send your groups to Confere: there are too many for the login/],
])(
  'a person whose groups the issuer left out for their number reads so in %s, and so does the log',
  async (language, says) => {
    const visitor = openVisitor();
    const url = await comeBack(visitor);
    // as Entra ID does for more than 200 groups
    env.issuer.alterIdToken = ({ header, payload: { groups: _, ...payload } }) => ({
      header,
      payload: {
        ...payload,
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com/v1.0/users/0/getMemberObjects' } },
      },
    });
    env.issuer.accounts = { ...env.issuer.accounts, ana: { name: 'Ana Souza' } };
    const before = await countSessions();
    log = '';
    const page = await visitor.visit(url, { init: { headers: { 'accept-language': language } } });
    expect([page.status, await countSessions()]).toEqual([403, before]);
    expect(page.html).toMatch(says);
    expect(log).toContain('the issuer left the groups of a person out');
    expect(log).toContain('OIDC_GROUPS_CLAIM');
    expect(log).not.toContain('Ana Souza');
  },
);

test('a person who declines at the issuer reads so, and can begin again', async () => {
  const visitor = openVisitor();
  const begun = await visitor.visit(`${env.url}/login/oidc`);
  const abort = /href="([^"]+\/abort)"/.exec(begun.html)?.[1] ?? '';
  const back = await visitor.visit(new URL(abort, begun.url).href, { until: env.callback });
  expect(back.url).toContain('error=access_denied');
  await expectRefused(visitor, back.url, 403, /não autorizou a entrada/, 'access_denied');
  expect((await visitor.visit(await comeBack(visitor))).html).toContain('content="0; url=/"');
});

test('an issuer that is down stops nothing: the page says so, tokens log in, and it is asked again after a while', async () => {
  await using other = await openOidcEnvironment();
  await other.issuer.close();
  const visitor = openVisitor();
  const page = await visitor.visit(`${other.url}/login/oidc?next=%2Freports`);
  expect(page.status).toBe(503);
  expect(page.html).toMatch(/não está disponível agora/);
  expect((await visitor.submit(page, { token: ADMIN_TOKEN })).url).toBe(`${other.url}/reports`);
  await other.issuer.listen();
  expect((await visitor.visit(`${other.url}/login/oidc`)).status).toBe(503);
  expect(other.issuer.asked).toEqual([]);
  await other.timers.advance(30_000);
  expect((await visitor.visit(`${other.url}/login/oidc`)).url).toContain(other.issuer.url);
});

test('an issuer that does not accept the secret is reported as misconfigured', async () => {
  await using other = await openOidcEnvironment({ OIDC_CLIENT_SECRET: 'not-the-secret' });
  const visitor = openVisitor();
  const back = await other.comeBack(visitor, 'ana');
  const page = await visitor.visit(back.url);
  expect(page.status).toBe(503);
  expect(page.html).toMatch(/configuração do Confere não serve ao emissor/);
});

test.each([
  ['a token endpoint by plain http', { token_endpoint: 'http://id.example/token' }],
  ['a token endpoint at a metadata service', { token_endpoint: 'https://169.254.169.254/token' }],
  ['a token endpoint inside a network', { token_endpoint: 'https://10.1.2.3/token' }],
])('an issuer that names %s is not followed', async (_, change) => {
  const server = createServer((_request, response) => {
    const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...change,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const OIDC_ISSUER = `http://localhost:${(server.address() as AddressInfo).port}`;
    await using other = await openOidcEnvironment({ OIDC_ISSUER });
    const visitor = openVisitor();
    const begun = await visitor.visit(`${other.url}/login/oidc`, { until: OIDC_ISSUER });
    const state = new URL(begun.url).searchParams.get('state') ?? '';
    const page = await visitor.visit(`${other.callback}?code=x&state=${state}`);
    expect(page.status).toBe(503);
    expect(page.html).toMatch(/não serve ao emissor/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('one address can try a hundred answers a minute', async () => {
  await using other = await openOidcEnvironment({ TRUST_PROXY: '1' });
  const ask = async (from: string) => {
    const response = await fetch(`${other.callback}?code=x&state=y`, { headers: { 'x-forwarded-for': from } });
    await response.text();
    return response.status;
  };
  for (let attempt = 0; attempt < 100; attempt++) expect(await ask('198.51.100.1')).toBe(401);
  expect(await ask('198.51.100.1')).toBe(429);
  expect(await ask('198.51.100.2')).toBe(401);
});

test('the log says why a login did not succeed, and holds no code, secret, state, name or subject', async () => {
  log = '';
  const visitor = openVisitor();
  const url = await comeBack(visitor);
  env.issuer.alterIdToken = withPayload(() => ({ nonce: 'other' }));
  await visitor.visit(url);
  env.issuer.alterIdToken = undefined;
  const other = openVisitor();
  expect((await other.visit(await comeBack(other))).html).toContain('content="0; url=/"');
  const query = new URL(url).searchParams;
  expect(log).toContain('"reason":"refused"');
  expect(log).toContain('"code":"OAUTH_JWT_CLAIM_COMPARISON_FAILED"');
  for (const secret of [query.get('code'), query.get('state'), CLIENT.OIDC_CLIENT_SECRET, 'Ana Souza', '"ana"']) {
    expect(log).not.toContain(secret);
  }
});
