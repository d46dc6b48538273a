import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findSession } from '../../../src/access/sessions.ts';
import { findCaller } from '../../../src/access/tokens.ts';
import type { Context } from '../../../src/context.ts';
import { AUTH_ATTEMPT_LIMITS, createAuthGuard } from '../../../src/http/access/guard-auth-attempts.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createLog } from '../../../src/log.ts';
import { authFailures } from '../../../src/metrics/metrics.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openTestContext, TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

/** Trusts a proxy's header, so that a test can choose its address. */
const env = closeAfterAll(await openConsoleEnvironment({ TRUST_PROXY: '1' }));

const GUESS = `cft_${'a'.repeat(43)}`;

function ask(address: string, from: string, token: string): Promise<Response> {
  return fetch(`${env.url}${address}`, { headers: { 'x-forwarded-for': from, authorization: `Bearer ${token}` } });
}

function logIn(from: string, token: string): Promise<Response> {
  return fetch(`${env.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: env.url, 'x-forwarded-for': from },
    body: new URLSearchParams({ token }),
  });
}

async function failures(kind: string): Promise<number> {
  const { values } = await authFailures.get();
  return values.find((one) => one.labels.kind === kind)?.value ?? 0;
}

/** Opens a guard with its own clock and log. */
function openGuard(limits: Partial<typeof AUTH_ATTEMPT_LIMITS> = {}) {
  const lines = new PassThrough();
  const time = { ms: 0 };
  const log = createLog('info', lines);
  const clock = { ...env.context.clock, now: () => new Date(time.ms) };
  const guard = createAuthGuard({ log, clock }, { ...AUTH_ATTEMPT_LIMITS, ...limits });
  const logged = () =>
    (lines.read() as Buffer | null)
      ?.toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)) ?? [];
  return { guard, time, logged };
}
const nobody = async () => undefined;
const somebody = async () => 'somebody';

test('each failed bearer, pull and login is counted by its kind, and a good one is not', async () => {
  const before = await Promise.all(['bearer', 'pull', 'login'].map(failures));
  expect((await ask('/api/v1/balances', '198.51.100.1', GUESS)).status).toBe(401);
  expect((await ask('/api/v1/balances', '198.51.100.1', env.tokens.viewer)).status).toBe(200);
  expect((await ask('/api/v1/events', '198.51.100.1', `mpt_${'a'.repeat(43)}`)).status).toBe(401);
  expect((await logIn('198.51.100.1', GUESS)).status).toBe(401);
  expect((await logIn('198.51.100.1', env.tokens.viewer)).status).toBe(303);
  const after = await Promise.all(['bearer', 'pull', 'login'].map(failures));
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 1]);
});

test('a text that has the form of no token and of no session is refused without a question to the database', async () => {
  const db = new Proxy({} as Context['db'], {
    get: () => {
      throw new Error('the database was asked');
    },
  });
  const context = { ...env.context, db };
  const generated = { ...context, config: { ...context.config, ADMIN_TOKEN: undefined } };
  for (const text of ['x', GUESS.slice(1), `${GUESS}a`, `cfa_${'a'.repeat(42)}`, 'ç'.repeat(16_000)]) {
    expect(await findCaller(context, text)).toBeUndefined();
    expect(await findCaller(generated, text)).toBeUndefined();
    expect(await findSession(context, text)).toBeUndefined();
  }
  await expect(findCaller(generated, `cfa_${'a'.repeat(43)}`)).rejects.toThrow('the database was asked');
  await expect(findSession(context, 'a'.repeat(43))).rejects.toThrow('the database was asked');
});

test('cookies without a session are counted, and limited by address', async () => {
  const before = await failures('session');
  const visit = (session: string) =>
    fetch(`${env.url}/transactions`, {
      redirect: 'manual',
      headers: { cookie: `confere_session=${session}`, 'x-forwarded-for': '198.51.100.7' },
    });
  const statuses: number[] = [];
  for (let count = 0; count <= AUTH_ATTEMPT_LIMITS.failuresMax; count++) {
    statuses.push((await visit(`${'s'.repeat(39)}${1000 + count}`)).status);
  }
  expect(new Set(statuses.slice(0, AUTH_ATTEMPT_LIMITS.failuresMax))).toEqual(new Set([303]));
  expect(statuses.at(-1)).toBe(429);
  expect((await failures('session')) - before).toBe(AUTH_ATTEMPT_LIMITS.failuresMax);
});

test('an address that keeps guessing is answered 429 for all kinds; known tokens and other addresses are not', async () => {
  expect((await ask('/api/v1/balances', '198.51.100.2', env.tokens.operator)).status).toBe(200);
  const statuses: number[] = [];
  for (let count = 0; count <= AUTH_ATTEMPT_LIMITS.failuresMax; count++) {
    statuses.push((await ask('/api/v1/balances', '198.51.100.2', `${GUESS.slice(0, -4)}${1000 + count}`)).status);
  }
  expect(new Set(statuses.slice(0, AUTH_ATTEMPT_LIMITS.failuresMax))).toEqual(new Set([401]));
  expect(statuses.at(-1)).toBe(429);
  const refused = await ask('/api/v1/balances', '198.51.100.2', ADMIN_TOKEN);
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect((await logIn('198.51.100.2', ADMIN_TOKEN)).status).toBe(429);
  expect((await ask('/api/v1/events', '198.51.100.2', `mpt_${'b'.repeat(43)}`)).status).toBe(429);
  expect((await ask('/api/v1/balances', '198.51.100.2', env.tokens.operator)).status).toBe(200);
  expect((await ask('/api/v1/balances', '198.51.100.3', ADMIN_TOKEN)).status).toBe(200);
});

test('failures expire with the window, and an IPv6 /64 counts as one address', async () => {
  const { guard, time } = openGuard({ failuresMax: 2 });
  const attempt = (address: string) => guard.admit({ kind: 'bearer', address, credential: GUESS }, nobody);
  await attempt('2001:db8::1');
  await attempt('2001:db8::ffff:2');
  await expect(attempt('2001:db8::3')).rejects.toMatchObject({ code: 'too_many_requests', retryAfterS: 60 });
  await expect(attempt('2001:db8:0:1::1')).resolves.toBeUndefined();
  time.ms += AUTH_ATTEMPT_LIMITS.windowMs;
  await expect(attempt('2001:db8::3')).resolves.toBeUndefined();
});

test('failures are logged with the address, sampled, without the credential', async () => {
  const { guard, time, logged } = openGuard();
  const fail = () => guard.admit({ kind: 'login', address: '::ffff:203.0.113.9', credential: 'secret-guess' }, nobody);
  for (let count = 0; count < 5; count++) await fail();
  expect(logged()).toMatchObject([{ kind: 'login', address: '203.0.113.9', failures: 1, level: 'warn' }]);
  time.ms += AUTH_ATTEMPT_LIMITS.logEveryMs;
  await fail();
  const lines = logged();
  expect(lines).toMatchObject([{ failures: 5 }]);
  expect(JSON.stringify(lines)).not.toContain('secret-guess');
});

test('guesses that hang fill only their slots, and a known token is looked up at once', async () => {
  const { guard } = openGuard({ waitingMax: 1 });
  const known = { kind: 'bearer', address: '203.0.113.1', credential: 'good' } as const;
  expect(await guard.admit(known, somebody)).toBe('somebody');
  const release = Promise.withResolvers<undefined>();
  let running = 0;
  const hang = () => {
    running++;
    return release.promise;
  };
  const guesses = Array.from({ length: 3 }, (_, index) =>
    guard.admit({ kind: 'bearer', address: `203.0.113.${index + 10}`, credential: `guess ${index}` }, hang),
  );
  expect(running).toBe(AUTH_ATTEMPT_LIMITS.slots);
  const beyond = guard.admit({ kind: 'bearer', address: '203.0.113.99', credential: 'one more' }, hang);
  await expect(beyond).rejects.toMatchObject({ code: 'too_many_requests' });
  expect(await guard.admit(known, somebody)).toBe('somebody');
  release.resolve(undefined);
  expect(await Promise.all(guesses)).toEqual([undefined, undefined, undefined]);
  expect(running).toBe(3);
});

/** Starts look-ups of unknown credentials that end only when asked to, in any order. */
function trackAttempts(guard: ReturnType<typeof createAuthGuard>) {
  const started: string[] = [];
  const open: (() => void)[] = [];
  let count = 0;
  const attempt = (address: string) => {
    const ended = guard.admit({ kind: 'bearer', address, credential: `unknown ${count++}` }, async () => {
      started.push(address);
      await new Promise<void>((resolve) => open.push(resolve));
      return address;
    });
    return ended.catch((error: { code: string }) => error.code);
  };
  /** Ends the oldest running look-up, which lets the next one start. */
  const endOne = async () => {
    open.shift()?.();
    await setImmediate();
  };
  return { started, attempt, endOne };
}

test.each([
  ['one address', () => '203.0.113.66'],
  ['one /48 with an address in each /64', (n: number) => `2001:db8:66:${n.toString(16)}::1`],
])('a token from another address is looked up next while %s floods the queue', async (_, flooder) => {
  const { guard } = openGuard();
  const { started, attempt, endOne } = trackAttempts(guard);
  const { slots, waitingMax } = AUTH_ATTEMPT_LIMITS;
  const flood = Array.from({ length: slots + waitingMax }, (_, n) => attempt(flooder(n)));
  const genuine = ['198.51.100.5', '2001:db8:5::1'].map(attempt);
  await endOne();
  await endOne();
  await endOne();
  expect(started.slice(slots)).toEqual([expect.any(String), '198.51.100.5', '2001:db8:5::1']);
  const refused = (await Promise.all(flood.slice(-genuine.length))).filter((code) => code === 'too_many_requests');
  expect(refused).toHaveLength(genuine.length);
  for (let n = 0; n < slots + waitingMax; n++) await endOne();
  expect(await Promise.all(genuine)).toEqual(['198.51.100.5', '2001:db8:5::1']);
  expect(started).toHaveLength(slots + waitingMax);
});

test('sources of one /48 are looked up in turn, and share the turns of that /48', async () => {
  const { guard } = openGuard({ slots: 1, waitingMax: 6 });
  const { started, attempt, endOne } = trackAttempts(guard);
  const [flooder, neighbour, other] = ['2001:db8:66:1::1', '2001:db8:66:2::1', '203.0.113.7'] as const;
  const all = [flooder, flooder, flooder, flooder, neighbour, other, other].map(attempt);
  for (let n = 0; n < all.length; n++) await endOne();
  expect(started).toEqual([flooder, flooder, other, neighbour, other, flooder, flooder]);
  await Promise.all(all);
});

test('a full queue refuses the newest of the source that has most, and a newcomer where all have one', async () => {
  const { guard } = openGuard({ slots: 1, waitingMax: 3 });
  const { attempt, endOne } = trackAttempts(guard);
  const all = ['203.0.113.1', '203.0.113.2', '203.0.113.2', '203.0.113.2', '203.0.113.3', '203.0.113.4', '203.0.113.5'];
  const ends = all.map(attempt);
  for (let n = 0; n < all.length; n++) await endOne();
  const refused = 'too_many_requests';
  expect(await Promise.all(ends)).toEqual([all[0], all[1], refused, refused, all[4], all[5], refused]);
});

test('metrics are for loopback and private addresses, and for others with a viewer’s token', async () => {
  const from = async (address: string, token = '') => (await ask('/metrics', address, token)).status;
  for (const near of ['127.0.0.1', '10.1.2.3', '172.16.0.9', '192.168.1.1', 'fd00::7', '::ffff:10.0.0.1'])
    expect(await from(near), near).toBe(200);
  for (const far of ['203.0.113.7', '8.8.8.8', '2001:db8::9', 'nonsense', '169.254.169.254'])
    expect(await from(far), far).toBe(401);
  expect(await from('203.0.113.7', env.tokens.viewer)).toBe(200);
  expect(await from('203.0.113.7', GUESS)).toBe(401);
});

test('a request that an unnamed proxy forwards is not from a private network', async () => {
  await using plain = await openConsoleEnvironment();
  const ask = (headers: Record<string, string>) => fetch(`${plain.url}/metrics`, { headers });
  expect((await ask({})).status).toBe(200);
  expect((await ask({ 'x-forwarded-for': '10.0.0.1' })).status).toBe(401);
  expect((await ask({ forwarded: 'for=10.0.0.1' })).status).toBe(401);
});

test.each([
  ['a proxy that is not named', '10.9.9.9', { 'x-forwarded-for': '10.0.0.1' }, 401],
  ['a proxy that is not named, with the other header', '10.9.9.9', { forwarded: 'for=10.0.0.1' }, 401],
  ['no proxy', '10.9.9.9', {}, 200],
  ['a named proxy', '127.0.0.0/8', { 'x-forwarded-for': '10.0.0.1' }, 200],
  ['a named proxy, from far', '127.0.0.0/8', { 'x-forwarded-for': '203.0.113.7' }, 401],
  ['a named proxy, with the other header alone', '127.0.0.0/8', { forwarded: 'for=10.0.0.1' }, 401],
  ['a named proxy behind one that is not', '127.0.0.0/8', { 'x-forwarded-for': '203.0.113.7, 10.0.0.1' }, 401],
  ['two named proxies', '127.0.0.0/8,10.0.0.1', { 'x-forwarded-for': '10.0.0.2, 10.0.0.1' }, 200],
  ['fewer proxies than are counted', '2', { 'x-forwarded-for': '10.0.0.1' }, 200],
  ['more proxies than are counted', '1', { 'x-forwarded-for': '203.0.113.7, 10.0.0.1' }, 401],
])('metrics asked for through %s', async (_, trustProxy, headers: Record<string, string>, status) => {
  await using context = await openTestContext({ TRUST_PROXY: trustProxy });
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  expect((await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers })).status).toBe(status);
});

test('addresses are case-sensitive', async () => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  for (const address of [
    '/Healthz',
    '/METRICS',
    '/API/v1/balances',
    '/api/V1/balances',
    '/api/v1/Balances',
    '/Login',
    '/CONSOLE/console.css',
  ])
    expect((await fetch(`${env.url}${address}`, { headers, redirect: 'manual' })).status, address).toBe(404);
  const hook = await fetch(`${env.url}/Webhooks/pix`, { method: 'POST', body: '{}' });
  expect(hook.status).toBe(404);
});
