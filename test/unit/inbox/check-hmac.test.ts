import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { checkSignature, verifyHmac } from '../../../src/inbox/receive/check-credentials.ts';

type Case = { name: string; key: string; data: string; sha1?: string; sha256?: string; sha512?: string };

const fixture = new URL('../../fixtures/hmac/rfc-2202-and-4231.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(fixture, 'utf8')) as { cases: Case[] };
const vectors = cases.flatMap((one) =>
  (['sha1', 'sha256', 'sha512'] as const).flatMap((digest) => {
    const tag = one[digest];
    return tag === undefined ? [] : [{ ...one, digest, tag }];
  }),
);

describe('the public vectors of HMAC (RFC 2202, RFC 4231)', () => {
  it.each(vectors)('hold for $digest, $name', ({ key, data, digest, tag }) => {
    const check = (encoding: 'hex' | 'base64', text: string): boolean =>
      verifyHmac({ digest, encoding }, Buffer.from(key, 'hex'), [Buffer.from(data, 'hex')], text);
    const base64 = Buffer.from(tag, 'hex').toString('base64');
    expect([check('hex', tag), check('hex', tag.toUpperCase()), check('base64', base64)]).toEqual([true, true, true]);
    expect([check('hex', base64), check('base64', tag), check('hex', '')]).toEqual([false, false, false]);
  });

  it.each(vectors)('refuse every tag with one bit turned, and every shortened one: $digest, $name', (vector) => {
    const { key, data, digest, tag } = vector;
    const check = (bytes: Buffer): boolean =>
      verifyHmac(
        { digest, encoding: 'hex' },
        Buffer.from(key, 'hex'),
        [Buffer.from(data, 'hex')],
        bytes.toString('hex'),
      );
    for (let bit = 0; bit < tag.length * 4; bit++) {
      const turned = Buffer.from(tag, 'hex');
      turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(check(turned)).toBe(false);
    }
    for (let length = 0; length < tag.length / 2; length++)
      expect(check(Buffer.from(tag, 'hex').subarray(0, length))).toBe(false);
  });

  it('hold through the whole of the check where a key is text', () => {
    const vector = cases.find((one) => one.name === 'case 2');
    for (const digest of ['sha1', 'sha256', 'sha512'] as const) {
      const config = readConfig({ WEBHOOK_SECRET: 'Jefe', WEBHOOK_AUTH: 'hmac', WEBHOOK_HMAC: `${digest}:hex` });
      const given = { pathToken: undefined, body: Buffer.from(vector?.data ?? '', 'hex'), now: new Date() };
      const signed = (text: string) => checkSignature(config, { ...given, headers: { 'x-signature': text } });
      expect([signed(vector?.[digest] ?? ''), signed(`${vector?.[digest]}00`)]).toEqual([true, false]);
    }
  });
});

type Vector = { digest: 'sha1' | 'sha256' | 'sha512'; tcId: number; key: string; msg: string; tag: string } & {
  /** Some are of shortened tags: none of these may be taken, valid or not. */
  whole: boolean;
  valid: boolean;
};

describe("Wycheproof's vectors of HMAC", () => {
  const file = new URL('../../fixtures/hmac/wycheproof.json', import.meta.url);
  const { tests } = JSON.parse(readFileSync(file, 'utf8')) as { tests: Vector[] };

  it.each(['sha1', 'sha256', 'sha512'] as const)('are accepted or refused correctly: %s', (digest) => {
    const mine = tests.filter((one) => one.digest === digest);
    expect(mine.length).toBeGreaterThan(160);
    const wrong = mine.filter(({ key, msg, tag, whole, valid }) => {
      const [secret, body] = [Buffer.from(key, 'hex'), Buffer.from(msg, 'hex')];
      const base64 = Buffer.from(tag, 'hex').toString('base64');
      const taken = [
        verifyHmac({ digest, encoding: 'hex' }, secret, [body], tag),
        verifyHmac({ digest, encoding: 'base64' }, secret, [body], base64),
      ];
      return taken.some((one) => one !== (whole && valid));
    });
    expect(wrong).toEqual([]);
  });
});
