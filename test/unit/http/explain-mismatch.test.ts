import { expect, test } from 'vitest';
import { MISMATCH_SEVERITY } from '../../../src/domain/mismatch.ts';
import { explainMismatch } from '../../../src/http/console/parts/explain-mismatch.ts';

test.each(Object.keys(MISMATCH_SEVERITY))('%s has a title, a meaning, and one sentence on what to do', (kind) => {
  const { title, meaning, todo } = explainMismatch(kind);
  expect(title).not.toBe(kind);
  expect(meaning).not.toBe('');
  expect(todo).toMatch(/^[^.]+\.$/);
});
