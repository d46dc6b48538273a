import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BATCH_BYTES_MAX, splitBatches } from '../../../src/inbox/receive/split-batches.ts';
import { propertyOptions } from '../../support/property.ts';

it('cuts what is to be written by bytes and by count, in order, and leaves nothing out', () => {
  const whole = Buffer.alloc(BATCH_BYTES_MAX + 1);
  const sizes = fc.oneof(fc.nat(100), fc.nat(300_000), fc.constant(whole.length));
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 600 }), (of) => {
      const all = of.map((bytes) => ({ body: whole.subarray(0, bytes) }));
      const batches = splitBatches(all);
      expect(batches.flat().every((one, index) => one === all[index])).toBe(true);
      expect(batches.flat()).toHaveLength(all.length);
      for (const batch of batches) {
        const bytes = batch.reduce((sum, one) => sum + one.body.length, 0);
        expect(batch.length === 1 || (batch.length <= 200 && bytes <= BATCH_BYTES_MAX)).toBe(true);
      }
    }),
    propertyOptions(8, 30),
  );
});
