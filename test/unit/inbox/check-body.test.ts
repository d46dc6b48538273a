import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEPTH_MAX, parseExactJson } from '../../../src/domain/exact-json.ts';
import { checkBody } from '../../../src/inbox/receive/check-body.ts';
import { propertyOptions } from '../../support/property.ts';

const faultOf = (text: string | Buffer) => checkBody(Buffer.from(text)).defect;

test.each([
  ['an empty body', '', 'empty'],
  ['blanks', ' \n', 'not_json'],
  ['text', 'hello', 'not_json'],
  ['half an object', '{"a":', 'not_json'],
  ['two objects', '{}{}', 'not_json'],
  ['NaN', '{"a":NaN}', 'not_json'],
  ['a string', '"paid"', 'not_an_object'],
  ['a number', '7', 'not_an_object'],
  ['null', 'null', 'not_an_object'],
  ['true', 'true', 'not_an_object'],
  ['an empty list', '[]', 'not_an_object'],
  ['an object', '{}', undefined],
  ['a list of objects', '[{}]', undefined],
  ['an object behind a byte order mark', '\uFEFF{}', undefined],
  ['an object that was encoded twice', '"{\\"a\\":1}"', undefined],
  ['a list that was encoded twice, behind byte order marks', '\uFEFF"\uFEFF[{}]"', undefined],
  ['an object that was encoded three times', JSON.stringify(JSON.stringify('{}')), 'not_an_object'],
  ['duplicate keys', '{"a":1,"a":2}', undefined],
  ['a number that no double holds', '{"a":1e999}', undefined],
  ['prototype keys', '{"__proto__":{"a":1},"constructor":{"prototype":{}}}', undefined],
])('%s has its defect', (_, text, fault) => {
  expect(faultOf(text)).toBe(fault);
});

test('of a body in Latin-1, texts with other letters are left out, and the rest is read', () => {
  const latin1 = (text: string) => checkBody(Buffer.from(text, 'latin1')).value;
  const body = {
    reference: 'a',
    extra: 'verão',
    list: ['é', 'e'],
    escaped: '@',
    data: { status: 'paid', name: 'João' },
  };
  expect(latin1(JSON.stringify(body).replace('@', '\\u00e9'))).toEqual({
    reference: 'a',
    list: [undefined, 'e'],
    escaped: 'é',
    data: { status: 'paid' },
  });
  expect(latin1(JSON.stringify(JSON.stringify(body)))).toMatchObject({ reference: 'a', data: { status: 'paid' } });
  // a part of an extra is another extra
  expect(latin1('{"reference":"a","extra":{"order":1,"nome":"João"}}')).toEqual({ reference: 'a' });
  // one broken byte in UTF-8 as well
  expect(latin1('{"a":"Jo\xc3\x28o","reference":12345678901234567891}')).toEqual(
    parseExactJson('{"reference":12345678901234567891}'),
  );
});

test('bytes that are not UTF-8 are no JSON outside of a string, nor where no key is left', () => {
  expect(faultOf(Buffer.from('{"\xff":1}', 'latin1'))).toBe('not_json');
  expect(faultOf(Buffer.from([0x7b, 0xff, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d]))).toBe('not_json');
  expect(faultOf(Buffer.from('{}', 'utf16le'))).toBe('not_json');
});

test('the deepest nesting that is taken is the limit, in objects and in lists', () => {
  const nest = (levels: number, open: string, close: string) =>
    `${open.repeat(levels - 1)}{}${close.repeat(levels - 1)}`;
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    expect(faultOf(nest(DEPTH_MAX, open, close))).toBeUndefined();
    expect(faultOf(nest(DEPTH_MAX + 1, open, close))).toBe('too_deep');
  }
});

test('a quarter of a megabyte of brackets is refused, not a crash', () => {
  expect(faultOf('['.repeat(130_000) + ']'.repeat(130_000))).toBe('too_deep');
  expect(faultOf('['.repeat(260_000))).toBe('not_json');
  expect(faultOf(`${'['.repeat(100_000)}1.50${']'.repeat(100_000)}`)).toBe('too_deep');
  expect(faultOf(JSON.stringify('['.repeat(100_000) + ']'.repeat(100_000)))).toBe('too_deep');
});

test('a prototype key of a body touches no prototype', () => {
  checkBody(Buffer.from('{"__proto__":{"polluted":true}}'));
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('any bytes get a verdict, and only a body without a fault has a value', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const { defect: fault, value } = checkBody(Buffer.from(bytes));
        expect(fault === undefined).toBe(typeof value === 'object');
      },
    ),
    propertyOptions(30, 300),
  );
});
