/**
 * The characters of Unicode in the texts of movements: each format is read back by a strict reader, which finds as many rows, columns
 * and cents as were written. A character that a charset lacks may become `<`, `;` or `=`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parseSignedAmount } from '../../../src/domain/money.ts';
import { STATEMENT_COLUMNS } from '../../../src/reports/render/columns.ts';
import { fitWindows1252 } from '../../../src/reports/render/formats/encode-windows-1252.ts';
import { CONTA_AZUL } from '../../../src/reports/render/formats/layouts.ts';
import { escapeCsvField } from '../../../src/reports/render/formats/write-csv.ts';
import { parseCsv } from '../../../src/spreadsheet/parse-csv.ts';
import { anyCharacter, DEEP, propertyOptions } from '../../support/property.ts';
import { OPENERS, writeFormat } from '../../support/write-format.ts';

const home = mkdtempSync(path.join(tmpdir(), 'confere-formats-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const CHARS_A_TEXT = 60;
const write = (texts: readonly string[], open: Parameters<typeof writeFormat>[2]) => writeFormat(home, texts, open);

/** Reads a CSV with the columns of its header in each row. */
function readCsv(text: string, column: number, columns: number): { rows: number; cents: bigint } {
  let [rows, cents] = [-1, 0n];
  for (const { cells } of parseCsv(text.replace(/^\uFEFF/, ''), ';')) {
    if (cells.length !== columns) throw new Error(`${cells.length} columns in row ${rows}`);
    const formula = cells.find((cell) => /^[\s\p{Cc}]*[=+@\uFF1D\uFF0B\uFF20]/u.test(cell?.text ?? ''));
    if (formula) throw new Error(`a formula in row ${rows}`);
    if (++rows > 0) cents += parseSignedAmount((cells[column]?.text ?? '').replace(',', '.')) ?? 0n;
  }
  return { rows, cents };
}

/** SGML of OFX 1: a value has an end at its line's end, aggregates are closed in order, and only three entities are known. */
function readOfx(text: string): { rows: number; cents: bigint } {
  const open: string[] = [];
  let [rows, cents] = [0, 0n];
  const [, body = ''] = text.split('\r\n\r\n');
  for (const line of body.split('\r\n').filter(Boolean)) {
    const [, end, name = '', value = ''] = /^<(\/?)([A-Z0-9]+)>((?:[^<>&\r\n]|&(?:amp|lt|gt);)*)$/.exec(line) ?? [];
    if (name === '' || (end && open.pop() !== name)) throw new Error(`no line of OFX: ${line}`);
    if (end) continue;
    if (value === '') open.push(name);
    if (name === 'STMTTRN') rows++;
    if (name === 'TRNAMT') cents += parseSignedAmount(value) ?? 0n;
  }
  expect(open).toEqual([]);
  return { rows, cents };
}

/** A journal: each entry has a line that begins with a day, and postings with an indent. */
function readJournal(text: string): { rows: number; cents: bigint } {
  let [rows, cents] = [0, 0n];
  for (const line of text.split(/\r\n|[\r\n]/)) {
    if (/^2026-11-20 \* .*; 10:00:00 entry:\d+$/s.test(line)) rows++;
    const [, amount] = /^ {4}Assets:\S+ {2}(-?\d+\.\d\d) BRL$/.exec(line) ?? [];
    cents += parseSignedAmount(amount ?? '0.00') ?? 0n;
    if (!/^$|^[;\d ]|^(?:commodity|account) /.test(line)) throw new Error(`no line of a journal: ${line}`);
  }
  return { rows, cents };
}

const latin = (bytes: Buffer): string => new TextDecoder('windows-1252').decode(bytes);
const READERS: Record<keyof typeof OPENERS, (bytes: Buffer) => { rows: number; cents: bigint }> = {
  csv: (bytes) =>
    readCsv(
      bytes.toString(),
      STATEMENT_COLUMNS.findIndex(({ name }) => name === 'amount'),
      // and the name of the platform
      STATEMENT_COLUMNS.length + 1,
    ),
  generic: (bytes) => readCsv(bytes.toString(), 3, 8),
  calima: (bytes) => readCsv(latin(bytes), 1, 9),
  'conta-azul': (bytes) => readCsv(bytes.toString(), 5, CONTA_AZUL.header.length),
  ofx: (bytes) => readOfx(latin(bytes)),
  journal: (bytes) => readJournal(bytes.toString()),
  'journal-continued': (bytes) => readJournal(bytes.toString()),
};
const FORMATS = Object.keys(OPENERS) as (keyof typeof OPENERS)[];

/**
 * Each code point but surrogates; outside the deep run each of the scripts, signs and compatibility forms that a charset may fold,
 * and one in 97 of the ideographs and of what is private or unassigned.
 */
const CODES = Array.from({ length: 0x11_0000 }, (_, code) => code).filter(
  (code) =>
    (code < 0xd800 || code > 0xdfff) &&
    (DEEP || code < 0x3400 || (code >= 0xf900 && code < 0x1_0000) || code % 97 === 0),
);

/** These characters, in texts of a limited length. */
const CHARACTERS = Array.from({ length: Math.ceil(CODES.length / CHARS_A_TEXT) }, (_, at) =>
  String.fromCodePoint(...CODES.slice(at * CHARS_A_TEXT, (at + 1) * CHARS_A_TEXT)),
);

test.each(FORMATS)('%s holds the characters of Unicode without another row, column or cent', async (name) => {
  const { bytes, cents } = await write(CHARACTERS, OPENERS[name]);
  expect(READERS[name](bytes)).toEqual({ rows: CHARACTERS.length, cents });
});

const anyText = fc
  .array(fc.oneof(anyCharacter, fc.constantFrom(...'=+-@;,"\'\t\r\n&<>\\|\0 \u0085\u2028≮≠﹦；＂＜＆“€')), {
    maxLength: 300,
  })
  .map((chars) => chars.join(''));

test('each format holds any texts without another row, column or cent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 8 }), async (texts) => {
      for (const name of FORMATS) {
        const { bytes, cents } = await write(texts, OPENERS[name]);
        expect(READERS[name](bytes)).toEqual({ rows: texts.length, cents });
      }
    }),
    propertyOptions(10, 300),
  );
});

test('no character becomes the start of a formula in a field of windows-1252, and none is lost when it is encoded', () => {
  const formulas: string[] = [];
  for (const code of CODES) {
    const fitted = fitWindows1252(`${String.fromCodePoint(code)}1`);
    const field = escapeCsvField(fitted);
    if (/^"?[=+\-@]/.test(field) || fitWindows1252(fitted) !== fitted) formulas.push(code.toString(16));
  }
  expect(formulas).toEqual([]);
});

test('a field with the separator of another program is quoted', () => {
  expect(escapeCsvField('x,=1+cmd')).toBe('"x,=1+cmd"');
  expect(escapeCsvField('x\t=1+cmd')).toBe('"x\t=1+cmd"');
});
