/** Workbooks as other programs write them, and as an attacker would. */
import { describe, expect, test } from 'vitest';
import { TABLE_LIMITS } from '../../../src/imports/read-table.ts';
import { openWorkbook } from '../../../src/spreadsheet/open-workbook.ts';
import { sourceOfBytes } from '../../../src/spreadsheet/open-zip.ts';
import { readSheet } from '../../../src/spreadsheet/read-sheet.ts';
import { readDateStyles, readSharedTexts, showsDate } from '../../../src/spreadsheet/read-texts-and-styles.ts';
import { type PackedPart, packWorkbook, packZip } from '../../support/pack-zip.ts';

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

async function read(bytes: Buffer, limits = TABLE_LIMITS) {
  const workbook = await openWorkbook(sourceOfBytes(bytes), limits);
  const merges: string[] = [];
  const context = {
    sharedTexts: await readSharedTexts(workbook, limits.textsMax),
    dateStyles: await readDateStyles(workbook),
    limits,
    onMerge: (range: string) => void merges.push(range),
  };
  const rows: unknown[] = [];
  const [sheet] = workbook.sheets;
  if (!sheet) throw new Error('no sheet');
  for await (const { number, cells } of readSheet(workbook, sheet, context))
    rows.push([
      number,
      ...Array.from(cells, (cell) => cell && (cell.kind === 'text' ? cell.text : [cell.kind, cell.text])),
    ]);
  return { rows, merges, title: sheet.title };
}

const rowsOf = async (sheet: string, more: PackedPart[] = []): Promise<unknown[]> =>
  (await read(packWorkbook(sheet, more))).rows;

const relation = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
const BOOK = `<workbook xmlns:r="${RELATIONS}"><sheets><sheet name="A &amp; B" r:id="r1"/></sheets></workbook>`;
const SHEET = '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData></worksheet>';
const TEXTS = '<sst><si><t>x</t></si></sst>';

test('texts in several runs are joined, without those that give the pronunciation', async () => {
  const runs =
    '<r><t>-1.</t></r><r><rPr><b/></rPr><t xml:space="preserve"> 249,90</t></r><rPh sb="0" eb="1"><t>no</t></rPh>';
  const rows = await rowsOf(
    `<sheetData><row r="1"><c r="A1" t="inlineStr"><is>${runs}</is></c><c r="B1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>a<![CDATA[<b>]]>&amp;</t></is></c></row></sheetData>`,
    [{ name: 'xl/sharedStrings.xml', content: `<sst><si>${runs}</si></sst>` }],
  );
  expect(rows).toEqual([[1, '-1. 249,90', '-1. 249,90', 'a<b>&']]);
});

test('rows and cells without positions follow the ones before them', async () => {
  const cell = (value: number, at = ''): string => `<c${at && ` r="${at}"`}><v>${value}</v></c>`;
  const rows = await rowsOf(
    `<sheetData><row>${cell(1)}<c/>${cell(2)}</row><row>${cell(3)}</row><row r="7">${cell(4, 'B7')}${cell(5)}</row><row>${cell(6, 'A9')}</row></sheetData>`,
  );
  const number = (value: number) => ['number', String(value)];
  expect(rows).toEqual([
    [1, number(1), undefined, number(2)],
    [2, number(3)],
    [7, undefined, number(4), number(5)],
    [9, number(6)],
  ]);
});

test.each([
  ['two rows of one number', '<row r="2"/><row r="2"/>', 'row 2 is out of order'],
  ['a cell twice', '<row r="1"><c r="A1"/><c r="A1"/></row>', 'row 1 has cells out of order'],
  ['a cell of another row', '<row r="1"><c r="A2"/></row>', 'row 1 has a damaged cell'],
  ['a row of no number', '<row r="x"/>', 'a row is damaged'],
  [
    'a shared text that is missing',
    '<row r="3"><c t="s"><v>0</v></c></row>',
    'row 3 has a text that the workbook lacks',
  ],
  ['a shared text without its number', '<row><c t="s"><v/></c></row>', 'row 1 has a text that the workbook lacks'],
  ['a document type', '</sheetData><!DOCTYPE a>', 'cannot be read'],
])('a sheet with %s is refused', async (_, rows, message) => {
  await expect(rowsOf(`<sheetData>${rows}</sheetData>`)).rejects.toThrow(message);
});

test('elements with a prefix are the same elements, and those of other places are not', async () => {
  const bytes = packZip([
    { name: 'xl/workbook.xml', content: BOOK.replaceAll(/<(\/?)(workbook|sheets?)\b/g, '<$1x:$2') },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<p:Relationships>${relation('r1', 'worksheet', 's.xml').replace('<', '<p:')}</p:Relationships>`,
    },
    {
      name: 'xl/s.xml',
      content:
        '<x:worksheet><x:sheetData><x:row><x:c t="str"><x:f>1</x:f><x:v>a</x:v></x:c></x:row></x:sheetData><x:mergeCells><x:mergeCell ref="A1:B1"/></x:mergeCells>' +
        '<x:extLst><x:ext><row><c><v>1</v></c></row></x:ext></x:extLst></x:worksheet>',
    },
  ]);
  expect(await read(bytes)).toEqual({ rows: [[1, 'a']], merges: ['A1:B1'], title: 'A & B' });
});

const named = (index: string, rels: string, first: PackedPart[]): Buffer =>
  packZip([
    ...first,
    { name: index, content: BOOK },
    {
      name: rels,
      content: `<Relationships>${relation('r1', 'worksheet', '/Sheets/one.xml')}${relation('r2', 'sharedStrings', '../texts/T.xml')}</Relationships>`,
    },
    { name: 'sheets/One.XML', content: SHEET },
    { name: 'Texts\\t.xml', content: TEXTS },
  ]);

test.each([
  [
    'the relations of the package',
    named('book/b22.xml', 'book/_rels/b22.xml.rels', [
      {
        name: '_rels\\.rels',
        content: `<Relationships>${relation('x', 'officeDocument', 'book/B22.xml')}</Relationships>`,
      },
    ]),
  ],
  [
    'its content types',
    named('book/b22.xml', 'book/_rels/b22.xml.rels', [
      {
        name: '[content_types].xml',
        content: `<Types><Override PartName="/book/b22.xml" ContentType="${CONTENT}.sheet.main+xml"/></Types>`,
      },
    ]),
  ],
  ['its usual names in another case, with backslashes', named('XL\\Workbook.xml', 'xl\\_rels\\workbook.xml.rels', [])],
])('the parts of a workbook are found by %s', async (_, bytes) => {
  expect((await read(bytes)).rows).toEqual([[1, 'x']]);
});

test.each([
  ['sheets/One%201.xml', 'sheets/One 1.xml'],
  ['sheets/Folha 1.xml', 'sheets/Folha%201.xml'],
  ['/book/sheets/a.xml', '/book/sheets/a.xml'],
  ['sheets/100%.xml', 'sheets/100%.xml'],
])('a part that is named as %s is found as %s', async (target, name) => {
  const bytes = packZip([
    {
      name: '_rels/.rels',
      content: `<Relationships>${relation('x', 'officeDocument', 'book/b.xml')}</Relationships>`,
    },
    { name: 'book/b.xml', content: BOOK },
    {
      name: 'book/_rels/b.xml.rels',
      content: `<Relationships>${relation('r1', 'worksheet', target)}${relation('r2', 'sharedStrings', '/t.xml')}</Relationships>`,
    },
    { name: name.startsWith('/') ? name : `book/${name}`, content: SHEET },
    { name: 't.xml', content: TEXTS },
  ]);
  expect((await read(bytes)).rows).toEqual([[1, 'x']]);
});

test('a number whose format is a date is a date', async () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-416]dd/mm/yy;@"/><numFmt numFmtId="165" formatCode="0 &quot;days&quot;"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>';
  const bytes = packZip([
    { name: 'xl/workbook.xml', content: BOOK },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<Relationships>${relation('r1', 'worksheet', 's.xml')}${relation('r2', 'styles', 'styles.xml')}</Relationships>`,
    },
    {
      name: 'xl/s.xml',
      content: `<worksheet><sheetData><row>${[0, 1, 2, 3].map((s) => `<c s="${s}"><v>46296</v></c>`).join('')}</row></sheetData></worksheet>`,
    },
    { name: 'xl/styles.xml', content: styles },
  ]);
  expect((await read(bytes)).rows).toEqual([
    [1, ['number', '46296'], ['date', '46296'], ['date', '46296'], ['number', '46296']],
  ]);
});

test.each([
  ['dd/mm/yyyy', true],
  ['[h]:mm', true],
  ['[mm]', true],
  ['mmm\\-yy', true],
  ['General', false],
  ['0.00', false],
  ['#,##0.00;[Red]-#,##0.00', false],
  ['"R$ "#,##0.00', false],
  ['0\\d', false],
  ['_(* #,##0.00_);_(@_)', false],
  ['0;dd/mm', false],
  ['@', false],
])('the format %s shows a date: %s', (code, expected) => {
  expect(showsDate(code)).toBe(expected);
});

describe('a workbook that grows without end is refused', () => {
  const unclosed = (text: string, times: number): string => text.repeat(times);
  test.each([
    ['of nested elements', unclosed('<a>', 100_000), 'nested too deeply'],
    ['of attributes', `<a ${Array.from({ length: 1_000 }, (_, n) => `a${n}=""`).join(' ')}/>`, 'too many attributes'],
    [
      'of cells',
      `<sheetData><row>${unclosed('<c/>', 10_000)}</row><row>${unclosed('<c/>', 10_000)}</row></sheetData>`,
      'more than 15000 rows and cells',
    ],
    ['of a row without an end', `<sheetData><row>${unclosed('<c/>', 14_999)}`, 'cannot be read'],
  ])('%s', async (_, sheet, message) => {
    await expect(read(packWorkbook(sheet), { ...TABLE_LIMITS, cellsMax: 15_000 })).rejects.toThrow(message);
  });

  test('by one long text in many cells', async () => {
    const bytes = packWorkbook(`<sheetData><row>${unclosed('<c t="s"><v>0</v></c>', 10_000)}</row></sheetData>`, [
      { name: 'xl/sharedStrings.xml', content: `<sst><si><t>${'x'.repeat(32_767)}</t></si></sst>` },
    ]);
    expect(bytes.length).toBeLessThan(10_000);
    await expect(read(bytes)).rejects.toThrow('its cells have more than 16777216 characters');
  });
});

test('other work has its turn while the whole of a packed sheet is read', async () => {
  const bytes = packWorkbook(`<sheetData>${'<row/>'.repeat(500_000)}</sheetData>`);
  expect(bytes.length).toBeLessThan(50_000);
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  try {
    expect((await read(bytes)).rows).toHaveLength(500_000);
  } finally {
    clearImmediate(next);
  }
  // one for each 64 KiB
  expect(turns).toBeGreaterThan(40);
});
