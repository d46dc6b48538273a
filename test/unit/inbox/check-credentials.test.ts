import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { checkHead, checkSignature } from '../../../src/inbox/receive/check-credentials.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
type Given = { headers?: Record<string, string>; pathToken?: string; body?: string | Buffer; now?: Date };

function accepts(env: Record<string, string>, given: Given): boolean {
  const config = readConfig(env);
  const head = { headers: given.headers ?? {}, pathToken: given.pathToken, now: given.now ?? NOW };
  const verdict = checkHead(config, head);
  if (verdict !== 'needs_body') return verdict === 'accepted';
  return checkSignature(config, { ...head, body: Buffer.from(given.body ?? '{}') });
}

test('with none, everything is taken', () => {
  expect(accepts({ WEBHOOK_AUTH: 'none' }, {})).toBe(true);
});

describe('bearer', () => {
  const env = { WEBHOOK_SECRET: 'new-secret,old-secret' };
  const bearer = (authorization: string) => accepts(env, { headers: { authorization } });

  test('each live secret is accepted, with any case of the scheme', () => {
    expect([bearer('Bearer new-secret'), bearer('bearer old-secret'), bearer('BEARER  new-secret')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer wrong',
    'new-secret',
    'Basic new-secret',
    'Bearer new-secret2',
    'Bearer New-Secret',
  ])('not so %j', (authorization) => {
    expect(bearer(authorization)).toBe(false);
  });

  test('no header, and a path token that bearer does not ask for, open nothing', () => {
    expect(accepts(env, {})).toBe(false);
    expect(accepts(env, { pathToken: 'new-secret' })).toBe(false);
  });
});

describe('path', () => {
  test('the last part of the path is the secret, and the bare route takes the other schemes only', () => {
    const env = { WEBHOOK_SECRET: 's3cret', WEBHOOK_AUTH: 'path,bearer' };
    expect(accepts(env, { pathToken: 's3cret' })).toBe(true);
    expect(accepts(env, { pathToken: 'wrong' })).toBe(false);
    expect(accepts(env, {})).toBe(false);
    expect(accepts(env, { headers: { authorization: 'Bearer s3cret' } })).toBe(true);
  });
});

describe('basic', () => {
  const env = { WEBHOOK_SECRET: 'plain,user:pass:word', WEBHOOK_AUTH: 'basic' };
  const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });

  test('user and password are compared as one text; a secret without a colon serves no basic', () => {
    expect(accepts(env, basic('user:pass:word'))).toBe(true);
    for (const text of ['user:pass', 'user:', 'plain', ':plain', 'User:pass:word']) {
      expect(accepts(env, basic(text))).toBe(false);
    }
  });
});

describe('hmac', () => {
  const GITHUB = {
    WEBHOOK_SECRET: "It's a Secret to Everybody",
    WEBHOOK_AUTH: 'hmac',
    WEBHOOK_SIGNATURE_HEADER: 'X-Hub-Signature-256',
  };
  const DIGEST = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const signed = (signature: string, body = 'Hello, World!') =>
    accepts(GITHUB, { headers: { 'x-hub-signature-256': signature }, body });

  test('the example that GitHub documents is taken, with its prefix, without it, and in capitals', () => {
    expect([signed(`sha256=${DIGEST}`), signed(DIGEST), signed(`sha256=${DIGEST.toUpperCase()}`)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('another body, digest, prefix or no header is refused', () => {
    expect(signed(`sha256=${DIGEST}`, 'Hello, World! ')).toBe(false);
    expect(signed(`sha1=${DIGEST}`)).toBe(false);
    expect(signed(DIGEST.slice(0, 63))).toBe(false);
    expect(signed('')).toBe(false);
    expect(accepts(GITHUB, { body: 'Hello, World!' })).toBe(false);
  });

  test.each(['sha1:hex', 'sha256:base64', 'sha512:hex', 'sha512:base64'])('%s is computed as it says', (hmac) => {
    const [digest = '', encoding = ''] = hmac.split(':');
    const env = { WEBHOOK_SECRET: 'k', WEBHOOK_AUTH: 'hmac', WEBHOOK_HMAC: hmac };
    const signature = createHmac(digest, 'k')
      .update('{}')
      .digest(encoding as 'hex' | 'base64');
    expect(accepts(env, { headers: { 'x-signature': signature } })).toBe(true);
    expect(accepts(env, { headers: { 'x-signature': signature }, body: '{ }' })).toBe(false);
  });

  test('with a timestamp header, it is signed too and must be fresh to the limit on both sides', () => {
    const env = { WEBHOOK_SECRET: 'k', WEBHOOK_AUTH: 'hmac', WEBHOOK_TIMESTAMP_HEADER: 'x-timestamp' };
    const at = (timestamp: string, signedAs = timestamp) => {
      const signature = createHmac('sha256', 'k').update(`${signedAs}.{}`).digest('hex');
      return accepts(env, { headers: { 'x-signature': signature, 'x-timestamp': timestamp } });
    };
    const seconds = NOW.getTime() / 1000;
    expect([at(`${seconds}`), at(`${seconds - 300}`), at(`${seconds + 300}`)]).toEqual([true, true, true]);
    expect([at(`${NOW.getTime()}`), at(NOW.toISOString())]).toEqual([true, true]);
    expect([at(`${seconds - 301}`), at(`${seconds + 301}`), at(''), at('soon'), at('-1')]).toEqual(
      new Array(5).fill(false),
    );
    expect(at(`${seconds}`, `${seconds - 1}`)).toBe(false);
    const bare = createHmac('sha256', 'k').update('{}').digest('hex');
    expect(accepts(env, { headers: { 'x-signature': bare } })).toBe(false);
  });
});

describe('standard', () => {
  const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const env = { WEBHOOK_SECRET: `not-for-this,${SECRET}`, WEBHOOK_AUTH: 'standard' };
  const VECTOR = {
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    now: new Date(1_614_265_330_000),
  };
  const altered = (headers: Record<string, string>) =>
    accepts(env, { ...VECTOR, headers: { ...VECTOR.headers, ...headers } });

  test('the published vector is taken', () => {
    expect(accepts(env, VECTOR)).toBe(true);
  });

  test('it is taken among other signatures, and refused once anything differs', () => {
    const signature = VECTOR.headers['webhook-signature'];
    expect(altered({ 'webhook-signature': `v1,AAAA v2,x ${signature}` })).toBe(true);
    expect(altered({ 'webhook-signature': signature.replace('v1', 'v1a') })).toBe(false);
    expect(altered({ 'webhook-signature': '' })).toBe(false);
    expect(altered({ 'webhook-id': 'msg_other' })).toBe(false);
    expect(altered({ 'webhook-timestamp': '1614265331' })).toBe(false);
    expect(altered({ 'webhook-timestamp': '1614265330.0' })).toBe(false);
    expect(accepts(env, { ...VECTOR, body: '{"test":2432232314}' })).toBe(false);
  });

  test('it ages by the clock that is given', () => {
    const aged = (ms: number) => accepts(env, { ...VECTOR, now: new Date(1_614_265_330_000 + ms) });
    expect([aged(300_000), aged(-300_000), aged(300_001), aged(-300_001)]).toEqual([true, true, false, false]);
  });

  test("a genuine body that is no JSON is the provider's all the same", () => {
    const signature = new Webhook(SECRET).sign('m', NOW, 'not json');
    const headers = {
      'webhook-id': 'm',
      'webhook-timestamp': `${NOW.getTime() / 1000}`,
      'webhook-signature': signature,
    };
    expect(accepts(env, { headers, body: 'not json' })).toBe(true);
  });
});
