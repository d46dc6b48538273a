import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../../src');

test('exceljs is imported when a file is read, and never with the service', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ts$/.test(name));
  const texts = files.map((name) => ({ name, text: readFileSync(path.join(root, name), 'utf8') }));
  const users = texts.filter(({ text }) => /['"]exceljs/.test(text)).map(({ name }) => name);
  expect(users.sort()).toEqual(['spreadsheet/exceljs-parts.d.ts', 'spreadsheet/read-sheet.ts']);
  const reader = texts.find(({ name }) => name === 'spreadsheet/read-sheet.ts')?.text ?? '';
  const atOnce = [...reader.matchAll(/^import (?!type ).*'exceljs.*$/gm)];
  expect(atOnce.map(([line]) => line)).toEqual([]);
  expect(reader).toContain("await import('exceljs/");
});
