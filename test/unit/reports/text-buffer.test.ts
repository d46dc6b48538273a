import { expect, test } from 'vitest';
import { createTextBuffer } from '../../../src/reports/xlsx/create-text-buffer.ts';

test('what was taken stays as it is until the take after the next one, though nothing was added between', () => {
  const buffer = createTextBuffer();
  buffer.add('a'.repeat(20_000));
  buffer.add('ç€😀');
  const first = buffer.take();
  expect(buffer.take()).toHaveLength(0);
  buffer.add('b'.repeat(200_000));
  buffer.add('b');
  expect(first.toString()).toBe(`${'a'.repeat(20_000)}ç€😀`);
  expect(buffer.take().toString()).toBe('b'.repeat(200_001));
});
