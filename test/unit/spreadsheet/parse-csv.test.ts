import { expect, test } from 'vitest';
import { decodeCsv, parseCsv } from '../../../src/spreadsheet/parse-csv.ts';

const rows = (text: string, separator = ';') =>
  [...parseCsv(text, separator)].map(({ number, cells }) => [number, cells.map((cell) => cell?.text ?? null)]);

test('a CSV is split at its separator, with quotes, ends of lines within them, and the number of each line', () => {
  expect(rows('a;b\r\n"1;""x""\n2";\n\n;"é"z\nlast')).toEqual([
    [1, ['a', 'b']],
    [2, ['1;"x"\n2', null]],
    [4, [null]],
    [5, [null, 'éz']],
    [6, ['last']],
  ]);
  expect(rows('a,b\tc', '\t')).toEqual([[1, ['a,b', 'c']]]);
  expect(rows('')).toEqual([]);
  expect(rows('"open\nend')).toEqual([[1, ['open\nend']]]);
});

test('a CSV is UTF-8, or windows-1252 as Excel saves it', () => {
  expect(decodeCsv(Buffer.from('ação'))).toBe('ação');
  expect(decodeCsv(Buffer.from('ação', 'latin1'))).toBe('ação');
});
