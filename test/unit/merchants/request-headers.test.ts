import { expect, test } from 'vitest';
import { checkRequest, HEADERS_MAX, listHeaders, type RequestChange } from '../../../src/merchants/request-headers.ts';

const codes = (change: RequestChange, before?: Parameters<typeof checkRequest>[1]): string[] =>
  checkRequest(change, before).map(({ reason }) => reason);

test.each<[string, RequestChange, string[]]>([
  ['nothing', {}, []],
  ['a header', { headers: { 'X-Key': 'a b: c' } }, []],
  ['a removed header', { headers: { 'x-key': null } }, []],
  ['the format of the provider with a token', { format: 'provider', bearerToken: 't' }, []],
  ['the format of the provider without one', { format: 'provider' }, ['bearer_token_missing']],
  ['a token with a blank', { bearerToken: 'a b' }, ['bearer_token_form']],
  ['an empty token', { bearerToken: '' }, ['bearer_token_form']],
  ['a token with a line feed', { bearerToken: 'a\n' }, ['bearer_token_form']],
  ['a masked token', { bearerToken: '***' }, ['bearer_token_form']],
  ['a name with a blank', { headers: { 'x key': 'a' } }, ['header_name']],
  ['an empty name', { headers: { '': 'a' } }, ['header_name']],
  ['a long name', { headers: { ['x'.repeat(65)]: 'a' } }, ['header_name']],
  ['one name twice', { headers: { 'x-key': 'a', 'X-Key': 'b' } }, ['header_name']],
  ['an empty value', { headers: { 'x-key': '' } }, ['header_value']],
  ['a value that begins another header', { headers: { 'x-key': 'a\r\nx-other: b' } }, ['header_value']],
  ['a value that ends in a line feed', { headers: { 'x-key': 'a\n' } }, ['header_value']],
  ['a value with an accent', { headers: { 'x-key': 'ação' } }, ['header_value']],
  ['a long value', { headers: { 'x-key': 'x'.repeat(1025) } }, ['header_value']],
  ['a masked value', { headers: { 'x-key': '***' } }, ['header_value']],
  ...[
    'Authorization',
    'content-type',
    'Host',
    'Transfer-Encoding',
    'webhook-id',
    'Webhook-Extra',
    'proxy-connection',
  ].map((name): [string, RequestChange, string[]] => [
    `the header ${name}`,
    { headers: { [name]: 'a' } },
    ['header_reserved'],
  ]),
])('%s is checked', (_, change, found) => {
  expect(codes(change)).toEqual(found);
});

test('what a merchant has already counts', () => {
  const names = Array.from({ length: HEADERS_MAX }, (_, index) => `x-${index}`);
  const before = { format: 'provider', headerNames: ['authorization', ...names] };
  expect(codes({ headers: { 'x-0': 'other' } }, before)).toEqual([]);
  expect(codes({ headers: { 'x-new': 'one more' } }, before)).toEqual(['headers_many']);
  expect(codes({ headers: { 'x-new': 'one more', 'X-0': null } }, before)).toEqual([]);
  expect(codes({ bearerToken: null }, before)).toEqual(['bearer_token_missing']);
  expect(codes({ bearerToken: null, format: 'standard' }, before)).toEqual([]);
});

test('a change sets and removes headers by their names in lower case', () => {
  expect(listHeaders({ bearerToken: 't', headers: { 'X-Key': 'a', 'x-old': null } })).toEqual({
    ...{ authorization: 'Bearer t', 'x-key': 'a', 'x-old': null },
  });
  expect(listHeaders({ bearerToken: null })).toEqual({ authorization: null });
  expect(listHeaders({})).toEqual({});
});
