import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, decodeText } from '../../../src/domain/person/decode-text.ts';
import { encodeRecord } from '../../../src/inbox/spool/spool-format.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');

describe('bytes as a text', () => {
  it.each(['{"name":"Ana Conceição"}', 'pix', 'João, 123'])('are read as UTF-16 of either order: %s', (text) => {
    expect(decodeText(wide(text))).toBe(text);
    expect(decodeText(wide(text).swap16())).toBe(text);
    expect(decodeText(wide(`\uFEFF${text}`))).toBe(text);
    expect(decodeText(wide(`\uFEFF${text}`).swap16())).toBe(text);
    // cut off in its middle
    expect(decodeText(wide(text).subarray(0, -1))).toContain(text.slice(0, -1));
  });

  it('are read as UTF-8 where they are, a record of the spool too', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter.filter((one) => one !== '\0') }), (text) => {
        expect(decodeText(Buffer.from(text))).toBe(text);
      }),
      propertyOptions(50, 1000),
    );
    const body = Buffer.from('{"name":"Ana"}');
    expect(decodeText(encodeRecord({ receivedAt: new Date(), address: '::1', headers: {}, body }))).toContain('"Ana"');
  });
});

describe('base64 of UTF-16', () => {
  const CPF = '31415926590';
  const cases = ['', 'x', 'xy', 'xyz'].flatMap((before) => [
    { order: 'little', before, bytes: wide(CPF) },
    { order: 'big', before, bytes: wide(CPF).swap16() },
  ]);
  it.each(cases)('of $order endian is read to its last digit, behind "$before"', ({ before, bytes }) => {
    expect(decodeBase64(`${before}${bytes.toString('base64')}`)).toContain(CPF);
    expect(decodeBase64(Buffer.concat([Buffer.from(before), bytes]).toString('base64')).join('\n')).toContain(CPF);
  });
});
