import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const read = (file: string): string => readFileSync(path.resolve(import.meta.dirname, '../../..', file), 'utf8');

test('the figures of the README are those of docs/benchmarks.md', () => {
  const [, figures = ''] = read('README.md').split('## Figures');
  const shown = figures.match(/\d[\d,]*\d/g) ?? [];
  expect(shown.length).toBeGreaterThan(15);
  const measured = new Set(read('docs/benchmarks.md').match(/\d[\d,]*\d/g));
  expect(shown.filter((figure) => !measured.has(figure))).toEqual([]);
});
