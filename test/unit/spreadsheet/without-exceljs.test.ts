import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../../src');

test('the service never loads exceljs: only the demo, the benchmarks and the tests do', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ts$/.test(name));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((name) => /['"]exceljs/.test(readFileSync(path.join(root, name), 'utf8')))).toEqual([]);
});
