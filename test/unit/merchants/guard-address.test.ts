import { expect, test } from 'vitest';
import { validateAddress } from '../../../src/merchants/validate-address.ts';
import { validateUrl } from '../../../src/merchants/validate-url.ts';

/** May go: always, only with CALLBACK_ALLOW_PRIVATE, or never. */
const TABLE: Array<[string, 'always' | 'private' | 'never']> = [
  ['8.8.8.8', 'always'],
  ['200.147.3.157', 'always'],
  ['2606:4700:4700::1111', 'always'],
  ['2804:14c:65a1::1', 'always'],
  ['::ffff:8.8.8.8', 'always'],
  ['64:ff9b::808:808', 'always'],
  ['127.0.0.1', 'private'],
  ['127.255.255.254', 'private'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['::ffff:7f00:1', 'private'],
  ['::7f00:1', 'private'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['64:ff9b::7f00:1', 'private'],
  ['64:ff9b::10.1.2.3', 'private'],
  ['169.254.169.254', 'never'],
  ['169.254.1.1', 'never'],
  ['::ffff:169.254.169.254', 'never'],
  ['64:ff9b::a9fe:a9fe', 'never'],
  ['::a9fe:a9fe', 'never'],
  ['fe80::1', 'never'],
  ['fd00:ec2::254', 'never'],
  ['fd20:ce::254', 'never'],
  ['100.100.100.200', 'never'],
  ['168.63.129.16', 'never'],
  ['192.0.0.192', 'never'],
  ['0.0.0.0', 'never'],
  ['0.1.2.3', 'never'],
  ['::', 'never'],
  ['255.255.255.255', 'never'],
  ['224.0.0.1', 'never'],
  ['240.0.0.1', 'never'],
  ['192.0.2.1', 'never'],
  ['198.18.0.1', 'never'],
  ['64:ff9b:1::7f00:1', 'never'],
  ['2002:7f00:1::', 'never'],
  ['2001:0:1::1', 'never'],
  ['2001:db8::1', 'never'],
  ['fec0::1', 'never'],
  ['ff02::1', 'never'],
  ['100::1', 'never'],
  ['4000::1', 'never'],
  ['fe80::1%eth0', 'never'],
  ['example.com', 'never'],
];

test.each(TABLE)('a callback to %s may go: %s', (address, may) => {
  expect(validateAddress(address, false) === undefined).toBe(may === 'always');
  expect(validateAddress(address, true) === undefined).toBe(may !== 'never');
});

test.each([
  'http://0x7f000001/',
  'http://2130706433/',
  'http://127.1/',
  'http://0177.0.0.1/',
  'http://[::ffff:127.0.0.1]/',
  'http://①②⑦.⓪.⓪.①/',
  'http://0/',
])('another way to write a private address is refused when it is entered: %s', (url) => {
  expect(validateUrl(url, { allowPrivate: false, allowPlain: true })).toBeDefined();
});

test.each([
  '',
  'not a url',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:1',
  'http://user@example.com/',
  'http://user:pass@example.com/',
  'http://',
  `https://example.com/${'a'.repeat(2100)}`,
])('a text that is no address for callbacks is refused even where private ones are allowed: %s', (url) => {
  expect(validateUrl(url, { allowPrivate: true, allowPlain: true })).toBeDefined();
});

test('a public name is accepted, and checked when it is resolved', () => {
  expect(
    validateUrl('https://loja.example.com.br/pix?key=1', { allowPrivate: false, allowPlain: false }),
  ).toBeUndefined();
});

test.each([
  ['http://loja.example.com.br/pix', false],
  ['http://10.0.0.9/pix', false],
  ['http://127.loja.example/pix', false],
  ['http://127.0.0.1:9/pix', true],
  ['http://[::1]:9/pix', true],
  ['http://localhost:9/pix', true],
  ['https://loja.example.com.br/pix', true],
])('a merchant is reached by https, but on this machine: %s', (url, taken) => {
  expect(validateUrl(url, { allowPrivate: true, allowPlain: false }) === undefined).toBe(taken);
  expect(validateUrl(url, { allowPrivate: true, allowPlain: true })).toBeUndefined();
});
