import { expect, test } from 'vitest';
import { hashOfWorkbook } from '../../../src/reports/revisions/publish-drafts.ts';

test('a revision without a workbook is refused, not stored with an empty hash', () => {
  const file = { name: 'a', bytes: 1, sha256: 'ab'.repeat(32) };
  expect(hashOfWorkbook([{ ...file, format: 'xlsx' }])).toEqual(Buffer.alloc(32, 0xab));
  expect(() => hashOfWorkbook([{ ...file, format: 'csv' }])).toThrow(/without a workbook/);
});
