import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { combineCrc } from '../../../src/reports/xlsx/combine-crc.ts';
import { propertyOptions } from '../../support/property.ts';

const bytes = fc.uint8Array({ maxLength: 300 });
const crc = fc.integer({ min: 0, max: 2 ** 32 - 1 });
/** A sheet has up to 4 GiB. */
const length = fc.integer({ min: 0, max: 2 ** 32 - 1 });

test('the CRC-32 of two parts is that of the whole', () => {
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const whole = crc32(Buffer.concat([first, second]));
      expect(combineCrc(crc32(first), crc32(second), second.length)).toBe(whole);
    }),
    propertyOptions(50, 500),
  );
});

test('the CRC-32 of three long parts is the same, whichever two are combined first', () => {
  fc.assert(
    fc.property(crc, crc, crc, length, length, (first, second, third, secondBytes, thirdBytes) => {
      const left = combineCrc(combineCrc(first, second, secondBytes), third, thirdBytes);
      const right = combineCrc(first, combineCrc(second, third, thirdBytes), secondBytes + thirdBytes);
      expect(left).toBe(right);
    }),
    propertyOptions(50, 500),
  );
});
