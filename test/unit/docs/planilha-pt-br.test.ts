import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(path.resolve(import.meta.dirname, '../../../docs', name), 'utf8');
const [english, portuguese] = [read('sheets.md'), read('planilha.pt-BR.md')];

/** Each heading, followed by the cells at these places of the rows of its table: its own row of titles is left out. */
function outlineOf(text: string, places: number[]): string[][] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
      const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
      return [[heading.replace(/ \(.*/, '')], ...cells.map((row) => places.map((place) => row[place] ?? ''))];
    });
}

test('planilha.pt-BR.md explains the sheets and columns of sheets.md, and no others', () => {
  const [, ...sheets] = outlineOf(english, [1, 4]);
  const from = sheets.findIndex(([name]) => name === 'Extrato');
  const [, ...own] = outlineOf(portuguese, [1, 2]);
  const ownFrom = own.findIndex(([name]) => name === 'Extrato');
  expect(from).toBeGreaterThan(5);
  expect(own.slice(ownFrom)).toEqual(sheets.slice(from).map(([name = '', sum]) => rowOf(name, sum)));
  const [common, ownCommon] = [sheets.slice(0, from), own.slice(0, ownFrom)];
  expect(ownCommon.map(([name]) => name)).toEqual(common.map(([name]) => name));
});

function rowOf(name: string, sum: string | undefined): string[] {
  return sum === undefined ? [name] : [name, sum === '' ? '' : 'sim'];
}

test('planilha.pt-BR.md explains each column: there, or under those of many sheets', () => {
  const common = outlineOf(portuguese, [1]).map(([names = '']) => names.split(', '));
  const known = new Set(common.flatMap(([first = '', second]) => [first, first.replace(/\S+$/, second ?? first)]));
  const silent = outlineOf(portuguese, [1, 3]).filter(([name = '', is]) => is === '' && !known.has(name));
  expect(silent).toEqual([]);
});
