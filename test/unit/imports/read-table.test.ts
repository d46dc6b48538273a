import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { describeImportFault } from '../../../src/imports/import-kind.ts';
import { findImportKind, IMPORT_KIND_NAMES, type ImportKindName } from '../../../src/imports/import-kinds.ts';
import { packWorkbook } from '../../support/pack-zip.ts';

const PLATFORM = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const nobody = {} as Context;

async function read(kind: ImportKindName, file: Buffer | string) {
  const { rows, faults } = await findImportKind(kind).read(nobody, Buffer.from(file));
  return {
    rows: rows.map(({ number, value }) => [number, value]),
    faults: faults.map((fault) => [fault.row, fault.column, describeImportFault(fault)]),
  };
}

/** A sheet of inline texts and numbers: a value that begins with `=` is a formula. */
function sheet(rows: (string | number | null)[][], after = ''): Buffer {
  const cell = (value: string | number | null, at: string): string => {
    if (value === null) return '';
    if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`;
    if (value.startsWith('=')) return `<c r="${at}"><f>${value.slice(1)}</f><v>1</v></c>`;
    return `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const lines = rows.map(
    (cells, row) =>
      `<row r="${row + 1}">${cells.map((value, column) => cell(value, `${String.fromCharCode(65 + column)}${row + 1}`)).join('')}</row>`,
  );
  return packWorkbook(`<sheetData>${lines.join('')}</sheetData>${after}`);
}

test('the same rows are read from an XLSX and a CSV, in either language, in any order of columns', async () => {
  const expected = [
    [2, { platform: PLATFORM, atWall: '2026-11-20 18:00:00', balanceCents: -123_456n, newPlatform: false }],
    [4, { platform: '77', atWall: '2026-11-20 23:59:59', balanceCents: 110n, newPlatform: true }],
  ];
  const xlsx = sheet([
    ['Saldo', 'plataforma', 'INSTANTE', 'Plataforma nova'],
    [-1234.56, PLATFORM, 46_346.75, null],
    [null, '  ', null],
    [1.1, 77, '20/11/2026 23:59:59', 'Sim'],
  ]);
  expect(await read('statements', xlsx)).toEqual({ rows: expected, faults: [] });
  const csv = `platform,balance,instant,new platform\r\n${PLATFORM},"-1,234.56",2026-11-20T18:00,\r\n\r\n77,1.10,2026-11-20 23:59:59,yes\r\n`;
  expect(await read('statements', `\uFEFF${csv}`)).toEqual({ rows: expected, faults: [] });
});

test.each([
  'platform,instant,new platform,balance\n77,2026-11-20 18:00,yes,1500,75\n',
  'platform,instant,balance\n77,2026-11-20 18:00,1500,\n',
  'platform;balance;instant\n77;10,00;2026-11-20 18:00;;\n',
])('a record of a CSV with more fields than its header is a fault: %j', async (csv) => {
  const { rows, faults } = await read('statements', csv);
  expect([rows, faults]).toEqual([[], [[2, null, 'has more fields than the header']]]);
});

test('a record of a CSV whose header ends with separators may end with as many', async () => {
  const { rows, faults } = await read('statements', 'platform;balance;instant;;\n77;10,00;2026-11-20 18:00;;\n');
  expect([rows.length, faults]).toEqual([1, []]);
});

test('a date without a time is no instant, in an XLSX as in a CSV', async () => {
  const fault = ['at', expect.stringMatching(/must be a day and a time.*; midnight in a cell of text$/)];
  const xlsx = sheet([
    ['saldo', 'plataforma', 'instante'],
    [10, '77', 46_356],
    [10, '77', 46_356.5],
    [10, '77', '30/11/2026'],
    [10, '77', '30/11/2026 00:00:00'],
  ]);
  const { rows, faults } = await read('statements', xlsx);
  expect(faults).toEqual([
    [2, ...fault],
    [4, ...fault],
  ]);
  expect(rows.map(([, value]) => (value as { atWall: string }).atWall)).toEqual([
    '2026-11-30 12:00:00',
    '2026-11-30 00:00:00',
  ]);
  const csv = 'saldo;plataforma;instante\n10,00;77;30/11/2026\n10,00;77;2026-11-30\n';
  expect((await read('statements', csv)).faults).toEqual([
    [2, ...fault],
    [3, ...fault],
  ]);
});

test.each([
  ['1.234,56', 123_456n],
  ['1,234.56', 123_456n],
  ['-0,1', -10n],
  ['0.10', 10n],
  [0.1, 10n],
  ['1.1000000000000001', undefined],
  [0.1 + 0.2, undefined],
  [1.005, undefined],
  [1e15, undefined],
  ['1e3', undefined],
  ['1.234', undefined],
  ['1,234', undefined],
  ['R$ 1,00', 100n],
  ['#N/A', undefined],
])('the amount %j is taken to the cent, or refused: %s', async (amount, cents) => {
  const { rows, faults } = await read(
    'statements',
    sheet([
      ['plataforma', 'instante', 'saldo'],
      ['p', '2026-11-20 18:00', amount],
    ]),
  );
  if (cents === undefined) expect(faults).toEqual([[2, 'balance', expect.stringContaining('at most two decimals')]]);
  else expect(rows).toMatchObject([[2, { balanceCents: cents }]]);
});

test.each([
  [46_346, '2026-11-20'],
  ['2026-11-20', '2026-11-20'],
  ['20/11/2026', '2026-11-20'],
  [46_346.5, undefined],
  ['2026-11-20 00:00:00', undefined],
  ['2026-02-30', undefined],
  ['11/20/2026', undefined],
  [60, undefined],
  [-1, undefined],
  ['tomorrow', undefined],
])('the day %j is taken as %s', async (day, expected) => {
  const { rows, faults } = await read(
    'adjustments',
    sheet([
      ['plataforma', 'dia', 'tipo', 'valor', 'observação'],
      ['p', day, 'tarifa', 1, 'x'],
    ]),
  );
  if (expected === undefined) expect(faults).toEqual([[2, 'day', expect.stringContaining('must be a day')]]);
  else expect(rows).toMatchObject([[2, { day: expected, kind: 'fee' }]]);
});

test('a file that counts days from 1904 gives the same day', async () => {
  const file = packWorkbook(
    '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>platform</t></is></c><c r="B1" t="inlineStr"><is><t>instant</t></is></c><c r="C1" t="inlineStr"><is><t>balance</t></is></c></row>' +
      '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>44884.75</v></c><c r="C2"><v>1</v></c></row></sheetData>',
    [],
    'date1904="1"',
  );
  expect((await read('statements', file)).rows).toMatchObject([[2, { atWall: '2026-11-20 18:00:00' }]]);
});

test('all faults are listed by row and column', async () => {
  const file = sheet(
    [
      ['plataforma', 'dia', 'tipo', 'valor', 'observação'],
      ['p', 'x', 'multa', 'y', null],
      ['p', '2026-11-20', 'FEE', 0, 'zero'],
      ['p', '2026-11-20', 'fee', '=1+1', 'formula'],
      [1.5, '2026-11-20', 'fee', 1, `${'n'.repeat(1_001)}`],
      ['p', '2026-11-20', 'fee', 1, 'extra', null, 'here'],
    ],
    '<mergeCells><mergeCell ref="A3:B3"/></mergeCells>',
  );
  const { rows, faults } = await read('adjustments', file);
  expect(rows).toEqual([]);
  expect(faults).toEqual([
    [2, 'day', expect.stringContaining('must be a day')],
    [2, 'kind', expect.stringContaining('must be one of banco (bank), ')],
    [2, 'amount', expect.stringContaining('must be an amount')],
    [2, 'note', 'is required'],
    [3, null, 'belongs to merged cells A3:B3: split them'],
    [3, 'amount', 'must not be zero'],
    [4, 'amount', 'has a formula: paste its value'],
    [5, 'platform', 'is a number with decimals, or of more than 15 digits: format the cell as text and type it again'],
    [5, 'note', 'must have at most 1000 characters'],
    [6, null, 'has more fields than the header'],
  ]);
});

test('a date of the spreadsheet is a day, and no text and no amount', async () => {
  const cells = (values: string[], row: number): string =>
    values.map((one, at) => `<c r="${'ABCDE'[at]}${row}" t="inlineStr"><is><t>${one}</t></is></c>`).join('');
  const date = (at: string): string => `<c r="${at}" s="1"><v>46346</v></c>`;
  const file = packWorkbook(
    `<sheetData><row r="1">${cells(['platform', 'day', 'kind', 'amount', 'note'], 1)}</row>` +
      `<row r="2">${cells(['p'], 2)}${date('B2')}<c r="C2" t="inlineStr"><is><t>fee</t></is></c>${date('D2')}${date('E2')}</row></sheetData>`,
    [{ name: 'xl/styles.xml', content: '<styleSheet><cellXfs><xf/><xf numFmtId="17"/></cellXfs></styleSheet>' }],
  );
  expect((await read('adjustments', file)).faults).toEqual([
    [2, 'amount', expect.stringContaining('must be an amount')],
    [2, 'note', 'is a date of the spreadsheet: format the cell as text and type it again'],
  ]);
});

test('a formula that a cell shares with another one is one too', async () => {
  const file = packWorkbook(
    '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>platform</t></is></c><c r="B1" t="inlineStr"><is><t>name</t></is></c></row>' +
      '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f t="shared" si="0"/><v>5</v></c></row></sheetData>',
  );
  expect((await read('platforms', file)).faults).toEqual([[2, 'name', 'has a formula: paste its value']]);
});

describe('a file that is no table', () => {
  test.each([
    ['another header', 'conta;valor\nx;1', /^the header is plataforma; instante; saldo; \[plataforma nova\]$/],
    ['a column twice', 'plataforma;saldo;saldo;instante\n', /^the header is /],
    ['a missing column', 'plataforma;saldo\n', /^the header is /],
    ['no rows', 'plataforma;instante;saldo\n\n', /^the file has no rows$/],
    ['bytes', Buffer.from([1, 2, 0, 3]), /neither an XLSX nor a CSV/],
    [
      'UTF-16',
      Buffer.from('\uFEFFplataforma\tsaldo\n', 'utf16le'),
      /^it is in UTF-16: save it as a CSV in UTF-8, or as XLSX$/,
    ],
    ['UTF-16 without a mark', Buffer.from('plataforma;saldo\n', 'utf16le').swap16(), /^it is in UTF-16/],
    ['an old Excel', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /old Excel/],
    ['a zip that is none', Buffer.from('PK\u0003\u0004nothing'), /no zip/],
    [
      'a zip that grows',
      packWorkbook(`<sheetData/>${' '.repeat(20 * 1024 * 1024)}`),
      /unpacks to more than the limit|larger than the limit/,
    ],
    [
      'a document type with entities',
      packWorkbook(
        '<!DOCTYPE x [<!ENTITY a "b">]><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&a;</t></is></c></row></sheetData>',
      ),
      /cannot be read|the header is/,
    ],
  ])('%s is refused', async (_, file, message) => {
    const { rows, faults } = await read('statements', file);
    expect(rows).toEqual([]);
    expect(faults).toEqual([[expect.any(Number), null, expect.stringMatching(message)]]);
  });

  test('2,000 rows are read, and one more is a fault', async () => {
    const lines = (count: number) => `platform;name\n${Array.from({ length: count }, (_, at) => `${at};x`).join('\n')}`;
    expect((await read('platforms', lines(2_000))).rows).toHaveLength(2_000);
    expect((await read('platforms', lines(2_001))).faults).toEqual([[2_002, null, 'at most 2000 rows are allowed']]);
  });
});

test('docs/imports.md lists the columns of every kind', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/imports.md'), 'utf8');
  for (const kind of IMPORT_KIND_NAMES) {
    const columns = Object.values(findImportKind(kind).columns ?? {});
    const lines = columns.map(
      ({ titles, isRequired }) => `| ${kind} | ${titles['pt-BR']} | ${titles.en} | ${isRequired ? 'yes' : ''} |`,
    );
    expect(page).toContain(lines.join('\n'));
  }
});

test('a line of the bank has an account as OFX names it, and is no row that shows a balance', async () => {
  const header = ['conta', 'dia', 'valor', 'texto', 'identificador', 'saldo no fim do dia'];
  const read20 = { day: '2026-11-20', cents: -1_234n };
  expect(
    await read(
      'bank',
      sheet([
        header,
        ['341/1234/56789-0', 46_346, -12.34, 'TED', null, null],
        ['341/56789-0', '20/11/2026', '-12,34', 'Saldo devedor', 'f1', 7],
      ]),
    ),
  ).toMatchObject({
    rows: [
      [2, { statement: { account: '341/1234/56789-0', lines: [{ ...read20, line: 2, memo: 'TED', fitid: '' }] } }],
      [
        3,
        {
          statement: {
            account: '341/56789-0',
            balance: { cents: 700n, day: '2026-11-20' },
            lines: [],
            openRows: [{ ...read20, line: 3, memo: 'Saldo devedor', fitid: 'f1' }],
          },
        },
      ],
    ],
    faults: [],
  });
  const wrong = ['56789-0', '341/', '341/=1', 'CONFERE/1'].map((account) => [account, '2026-11-20', 1, 'x']);
  const { faults } = await read('bank', sheet([header, ...wrong, ['341/1', '2026-11-20', 9, 'S A L D O']]));
  const fault = 'must be bank, branch and number with / between: 341/1234/56789-0';
  expect(faults).toEqual([
    ...[2, 3, 4, 5].map((row) => [row, 'account', fault]),
    [6, 'text', 'shows a balance: leave the row out'],
  ]);
});
