import { expect, test } from 'vitest';
import { decodeCharset } from '../../../src/spreadsheet/decode-charset.ts';
import { parseCsv } from '../../../src/spreadsheet/parse-csv.ts';
import { describeSaid, message } from '../../../src/texts/messages.ts';

const rows = (text: string, separator = ';') =>
  [...parseCsv(text, separator)].map(({ number, cells }) => [number, cells.map((cell) => cell?.text ?? null)]);

test('a CSV is split at its separator, with quotes, ends of lines within them, and the number of each line', () => {
  expect(rows('a;b\r\n"1;""x""\n2";\n\n;"é"\nlast')).toEqual([
    [1, ['a', 'b']],
    [2, ['1;"x"\n2', null]],
    [4, [null]],
    [5, [null, 'é']],
    [6, ['last']],
  ]);
  expect(rows('a,b\tc', '\t')).toEqual([[1, ['a,b', 'c']]]);
  expect(rows('')).toEqual([]);
});

test('quotes that would make one field of several rows are refused with their line', () => {
  expect(() => rows('a;b\n1;"open\n2;x\n')).toThrow('the quotes that open in line 2 have no end');
  // the first quotes of line 4 close those of line 2
  expect(() => rows('a;b\n1;"open\n2;x\n3;"y"\n')).toThrow('text follows the quotes that close in line 4');
  expect(rows('1;a "b" c\n')).toEqual([[1, ['1', 'a "b" c']]]);
});

test('a CSV is UTF-8, or windows-1252 as Excel saves it', () => {
  expect(decodeCharset(Buffer.from('ação'))).toBe('ação');
  expect(decodeCharset(Buffer.from('ação', 'latin1'))).toBe('ação');
});

test('a field of more than 32,767 characters is refused', () => {
  expect(rows(`a\n${'x'.repeat(32_767)}`)).toHaveLength(2);
  expect(() => rows(`a\n${'x'.repeat(32_768)}`)).toThrow('line 2 has a field of more than 32767 characters');
});

test('a line of more than 1,000 fields is refused', () => {
  const fieldsOf = (count: number) => parseCsv(';'.repeat(count - 1), ';').next().value?.cells.length;
  expect(fieldsOf(1_000)).toBe(1_000);
  expect(() => fieldsOf(1_001)).toThrow('line 1 has more than 1000 fields');
  const said = message('file.fields_many', { line: 1, n: 1_000 });
  expect(() => fieldsOf(1_001)).toThrow(expect.objectContaining({ said: [said] }));
  expect(describeSaid([said], 'pt-BR')).toBe('a linha 1 tem mais de 1000 campos');
});
