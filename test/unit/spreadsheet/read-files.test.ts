import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type FinishedSheet, openSheet } from '../../../src/reports/xlsx/open-sheet.ts';
import type { Cell } from '../../../src/reports/xlsx/render-cell.ts';
import { writeWorkbook } from '../../../src/reports/xlsx/write-workbook.ts';
import { openWorkbook } from '../../../src/spreadsheet/open-workbook.ts';
import { openZip, sourceOfBytes } from '../../../src/spreadsheet/open-zip.ts';
import { readSheet } from '../../../src/spreadsheet/read-sheet.ts';
import { readSharedTexts } from '../../../src/spreadsheet/read-texts-and-styles.ts';
import { decodeText } from '../../../src/spreadsheet/read-xml.ts';
import type { SheetRow } from '../../../src/spreadsheet/row.ts';
import { scanSheet } from '../../../src/spreadsheet/scan-sheet.ts';
import { packWorkbook, packZip } from '../../support/pack-zip.ts';

const LIMITS = { partsMax: 50, unpackedBytesMax: 4 * 1024 * 1024 };
const home = mkdtempSync(path.join(tmpdir(), 'confere-read-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const open = (bytes: Buffer, limits = LIMITS) => openWorkbook(sourceOfBytes(bytes), limits);

/** Reads the first sheet with the reader for any program's files. */
async function read(bytes: Buffer, limits = LIMITS): Promise<SheetRow[]> {
  const workbook = await open(bytes, limits);
  const [sheet] = workbook.sheets;
  if (!sheet) throw new Error('no sheet');
  return await collect(readSheet(workbook, sheet, { sharedTexts: await readSharedTexts(workbook, 100) }));
}

async function writeOne(rows: Cell[][]): Promise<Buffer> {
  const signal = new AbortController().signal;
  const sheet = openSheet(
    { title: "L'açaí & Cia", widths: [10, 10, 10] },
    { name: 'xl/worksheets/sheet1.xml', file: path.join(home, 'sheet'), signal },
  );
  for (const cells of rows) {
    sheet.addRow(cells);
    await sheet.drain();
  }
  const finished: FinishedSheet = await sheet.end();
  const file = path.join(home, 'book.xlsx');
  let parts = 0;
  const properties = {
    title: 't',
    subject: 's',
    keywords: 'k',
    description: 'd',
    version: '1',
    madeAt: new Date('2026-01-01'),
  };
  await writeWorkbook(file, [finished], properties, () => ({ file: path.join(home, `part-${parts++}`), signal }));
  return readFileSync(file);
}

test('both readers read what Confere writes, in chunks of any size', async () => {
  const rows: Cell[][] = [
    [{ text: 'ação "&" <b>' }, { text: null }, { cents: -1_234_567_890_12n }],
    [],
    [undefined, { cents: 0n, formula: 'SUM(C1:C1)' }, { cents: 5n, formula: 'C1' }],
    ...Array.from({ length: 3_000 }, (_, index): Cell[] => [
      { moment: '2026-03-11 23:59:59' },
      { text: `é${'ç'.repeat(index % 50)}` },
      { cents: BigInt(index) },
    ]),
  ];
  const bytes = await writeOne(rows);
  const workbook = await open(bytes);
  expect(workbook.sheets).toEqual([{ title: "L'açaí & Cia", part: 'xl/worksheets/sheet1.xml', isHidden: false }]);
  const scanned = await collect(scanSheet(decodeText(workbook.zip.open('xl/worksheets/sheet1.xml'))));
  const parsed = await read(bytes);
  expect(scanned).toHaveLength(rows.length);
  // a number is the same, its text may be shorter: 5.00 is 5
  const normalize = (list: SheetRow[]) =>
    list.map(({ number, cells }) => [
      number,
      Array.from(
        { length: 3 },
        (_, at) =>
          cells[at] && [
            cells[at].isFormula,
            cells[at].kind,
            cells[at].kind === 'number' ? Number(cells[at].text) : cells[at].text,
          ],
      ),
    ]);
  expect(normalize(parsed)).toEqual(normalize(scanned));
  expect(scanned[0]?.cells[2]).toEqual({ kind: 'number', text: '-1234567890.12', isFormula: false });
  expect(scanned[2]?.cells[1]).toEqual({ kind: 'number', text: '0.00', isFormula: true });
  const slow = await collect(scanSheet(cut(await textOf(bytes), 7)));
  expect(slow).toEqual(scanned);
});

async function textOf(bytes: Buffer): Promise<string> {
  const { zip } = await open(bytes);
  return (await collect(decodeText(zip.open('xl/worksheets/sheet1.xml')))).join('');
}

async function* cut(text: string, chars: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += chars) yield text.slice(at, at + chars);
}

test.each([
  ['a row without its end', '<sheetData><row r="1"><c r="A1"><v>1</v></c>', 'the sheet was cut off'],
  [
    'a cell of another row',
    '<sheetData><row r="1"><c r="A2"><v>1</v></c></row></sheetData>',
    'row 1 has a damaged cell',
  ],
  ['a shared text', '<sheetData><row r="1"><c r="A1" t="s"><v>1</v></c></row></sheetData>', 'row 1 has a damaged cell'],
  [
    'cells out of order',
    '<sheetData><row r="1"><c r="B1"/><c r="A1"/></row></sheetData>',
    'row 1 has cells out of order',
  ],
  ['no rows at all', '<cols></cols>', 'the sheet was cut off'],
])('our own reader refuses %s', async (_, text, message) => {
  await expect(collect(scanSheet(cut(text, 1_000)))).rejects.toThrow(message);
});

test('files of other programs: shared and rich texts, letters across chunks, numbers as a spreadsheet stores them', async () => {
  const long = 'ã'.repeat(90_001);
  const bytes = packWorkbook(
    '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>x</t></is></c></row>' +
      '<row r="3"><c r="A3"><v>1.1000000000000001</v></c><c r="B3"><v>30000000000000004E-17</v></c><c r="C3"><f>1-1</f><v>0</v></c><c r="D3" t="b"><v>1</v></c></row></sheetData>',
    [
      {
        name: 'xl/sharedStrings.xml',
        content: `<sst><si><t>${long}</t></si><si><r><t>a &amp; </t></r><r><t>b</t></r><rPh><t>no</t></rPh></si></sst>`,
      },
    ],
  );
  const [first, third] = await read(bytes);
  expect(first?.cells.map((cell) => cell?.text)).toEqual([long, 'a & b', 'x']);
  expect(third).toEqual({
    number: 3,
    cells: [
      { kind: 'number', text: '1.1000000000000001', isFormula: false },
      { kind: 'number', text: '30000000000000004E-17', isFormula: false },
      { kind: 'number', text: '0', isFormula: true },
      { kind: 'other', text: '', isFormula: false },
    ],
  });
});

describe('a file of a stranger', () => {
  const part = { name: 'xl/worksheets/sheet1.xml', content: Buffer.alloc(64 * 1024 * 1024, 0x20) };

  test('is not unpacked beyond the limit, though it states that it is small', async () => {
    const bytes = packZip([{ ...part, statedBytes: 10 }]);
    expect(bytes.length).toBeLessThan(100_000);
    const zip = await openZip(sourceOfBytes(bytes), LIMITS);
    let seen = 0;
    const unpack = async () => {
      for await (const chunk of zip.open(part.name)) seen += chunk.length;
    };
    await expect(unpack()).rejects.toThrow('it unpacks to more than the limit');
    expect(seen).toBeLessThanOrEqual(LIMITS.unpackedBytesMax);
  });

  const small = { name: 'a', content: 'text' };
  test.each([
    ['that is no zip', Buffer.from('conta;código\n'), 'it is no zip, or it was cut off'],
    ['that is empty', Buffer.alloc(0), 'it is no zip, or it was cut off'],
    ['that was cut off', packZip([small]).subarray(0, 60), 'it is no zip, or it was cut off'],
    ['with another checksum', packZip([{ ...small, statedCrc: 1 }]), 'does not have the checksum'],
    ['with two parts of one name', packZip([small, small]), 'two parts have one name'],
    ['that is encrypted', packZip([{ ...small, flags: 1 }]), 'it is encrypted'],
    [
      'of too many parts',
      packZip(Array.from({ length: 51 }, (_, at) => ({ ...small, name: `a${at}` }))),
      'more than 50 parts',
    ],
  ])('%s is refused', async (_, bytes, message) => {
    const unpack = async () => await collect((await openZip(sourceOfBytes(bytes), LIMITS)).open('a'));
    await expect(unpack()).rejects.toThrow(message);
  });

  test('without a workbook, or with a damaged sheet, is refused without its text', async () => {
    await expect(read(packZip([small]))).rejects.toThrow('it is no workbook');
    const damaged = await read(
      packWorkbook('<sheetData><row r="1"><c r="A1"><v>1</secret></c></row></sheetData>'),
    ).catch(String);
    expect(damaged).toBe('UnreadableFileError: the part xl/worksheets/sheet1.xml cannot be read');
    await expect(
      read(packWorkbook('<sheetData><row r="1"><c r="ZZZZ1"><v>1</v></c></row></sheetData>')),
    ).rejects.toThrow('row 1 has a damaged cell');
    await expect(
      read(packWorkbook('<sheetData/>', [{ name: 'xl/sharedStrings.xml', content: `<sst>${'<si/>'.repeat(101)}` }])),
    ).rejects.toThrow('it has more than 100 texts');
  });

  test('with entities and ranges that would grow without end is read as what it holds', async () => {
    const rows = await read(
      packWorkbook(
        '<cols><col min="1" max="16384" width="9"/></cols><sheetData><row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData>' +
          '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><dataValidations><dataValidation sqref="A1:XFD1048576"/></dataValidations>',
      ),
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.cells.filter(Boolean)).toEqual([{ kind: 'number', text: '7', isFormula: false }]);
  });
});
