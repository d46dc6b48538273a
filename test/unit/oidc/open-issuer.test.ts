import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/log.ts';
import { describeLoginFailure, LoginError } from '../../../src/oidc/describe-login-failure.ts';
import { createIssuerFetch, isAllowedAddress } from '../../../src/oidc/guard-fetch.ts';
import { openIssuer } from '../../../src/oidc/open-issuer.ts';
import { SYSTEM_TIMERS } from '../../../src/timers.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const signal = new AbortController().signal;
const log = createLog('silent', process.stderr);
const OPTIONS = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;

async function listen(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function failureOf(work: Promise<unknown>): Promise<LoginError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => describeLoginFailure(thrown),
  );
  expect(error).toBeInstanceOf(LoginError);
  return error as LoginError;
}

function openAt(issuer: string, limits?: { requestMs: number }) {
  const config = readConfig({
    ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'confere', OIDC_ROLES: '*=viewer', PUBLIC_URL: 'http://127.0.0.1:1' },
  });
  const opened = openIssuer({ config, log, timers: SYSTEM_TIMERS, signal }, limits);
  if (!opened) throw new Error('no issuer is configured');
  return opened;
}

/** What a sound issuer says of itself. */
function describe(issuer: string) {
  return {
    ...{
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    },
    ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

test('requests go to the issuer’s own host, and of other hosts to public addresses alone', async () => {
  await using inner = await listen((_request, response) => response.end('{}'));
  const own = createIssuerFetch(new URL(`http://localhost:${inner.port}`), signal);
  expect((await own(`http://localhost:${inner.port}/jwks`, OPTIONS)).status).toBe(200);
  const elsewhere = createIssuerFetch(new URL('https://id.example'), signal);
  for (const address of ['https://127.0.0.1/', 'https://10.0.0.1/', 'https://[fd00::1]/', 'https://localhost/']) {
    expect(await failureOf(elsewhere(address, OPTIONS)), address).toMatchObject({
      reason: 'misconfigured',
      code: 'FORBIDDEN_ADDRESS',
    });
  }
  const metadata = createIssuerFetch(new URL('https://169.254.169.254'), signal);
  expect(await failureOf(metadata('https://169.254.169.254/', OPTIONS))).toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
});

test('only https is allowed, or http on this machine for an issuer that is there itself', () => {
  const [here, there] = [new URL('http://localhost:1'), new URL('https://id.example')];
  const allowed = (issuer: URL, address: string) => isAllowedAddress(issuer, new URL(address));
  expect(allowed(there, 'https://other.example/')).toBe(true);
  expect(allowed(here, 'http://127.0.0.1:2/')).toBe(true);
  expect(allowed(here, 'http://id.example/')).toBe(false);
  expect(allowed(there, 'http://localhost:1/')).toBe(false);
  expect(allowed(here, 'javascript:alert(1)')).toBe(false);
  expect(allowed(here, 'file:///etc/passwd')).toBe(false);
});

test('an answer of more than a mebibyte is not read to its end', async () => {
  await using large = await listen((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(`"${'x'.repeat(2 * 1024 * 1024)}"`);
  });
  const failure = await failureOf(openAt(`http://localhost:${large.port}`).begin());
  expect(failure).toMatchObject({ reason: 'unavailable', code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
});

test('an issuer that does not answer in time is unavailable', async () => {
  await using silent = await listen(() => undefined);
  const failure = await failureOf(openAt(`http://localhost:${silent.port}`, { requestMs: 100 }).begin());
  expect(failure).toMatchObject({ reason: 'unavailable', code: 'timeout' });
});

test.each<[string, number, (own: string) => object | undefined, string]>([
  ['another issuer', 200, (own) => ({ ...describe(own), issuer: `${own}/other` }), 'misconfigured'],
  ['no address to log in', 200, (own) => ({ ...describe(own), authorization_endpoint: undefined }), 'misconfigured'],
  ['a script to log in', 200, (own) => ({ ...describe(own), authorization_endpoint: 'javascript:1' }), 'misconfigured'],
  ['no JSON', 200, () => undefined, 'unavailable'],
  ['an error', 500, () => ({}), 'unavailable'],
  ['a redirect', 302, () => ({}), 'unavailable'],
])('an issuer that answers with %s is not used', async (_, status, body, reason) => {
  await using wrong = await listen((request, response) => {
    const own = `http://${request.headers.host}`;
    const json = body(own);
    response.writeHead(status, { 'content-type': json ? 'application/json' : 'text/html', location: `${own}/there` });
    response.end(json ? JSON.stringify(json) : '<html>');
  });
  const failure = await failureOf(openAt(`http://localhost:${wrong.port}`).begin());
  expect(failure.reason).toBe(reason);
});

test('without an issuer there is none, and openid-client is not loaded', async () => {
  expect(openIssuer({ config: readConfig({}), log, timers: SYSTEM_TIMERS, signal })).toBeUndefined();
  const watch = `--import=data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name === 'openid-client') console.log('LOADED');
      return next(name, context);
    } });`)}`;
  // one process for both: what is printed before STARTED was loaded by the start
  const script = `await import('./src/commands/serve/start-service.ts');
    console.log('STARTED');
    const { discover } = await import('./src/oidc/open-issuer.ts');
    await discover({ issuer: new URL('https://id.example'), clientId: 'x' }, async () => { throw new TypeError('no'); }).catch(() => 0);`;
  const args = [watch, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).toBe('STARTED\nLOADED\n');
});
