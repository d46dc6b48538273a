/** Tables as people and programs write them: each kind of reported file, and others of the kind beside it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { AMOUNT_CENTS_MAX, formatTypedAmount, parseWrittenAmount } from '../../../src/domain/money.ts';
import { describeImportFault } from '../../../src/imports/import-kind.ts';
import { findImportKind, type ImportKindName } from '../../../src/imports/import-kinds.ts';
import { packWorkbook, packZip } from '../../support/pack-zip.ts';
import { propertyOptions } from '../../support/property.ts';

const HEADER = 'conta;dia;valor;texto;número do documento';
const ROWS = [
  '341/1234/56789-0;20/11/2026;2500,00;TED RECEBIDA PROVEDOR PIX;000045107',
  '341/1234/56789-0;20/11/2026;-49,90;TARIFA MENSALIDADE;000000000',
];

async function read(file: string | Buffer, kind: ImportKindName = 'bank') {
  const bytes = Buffer.from(file);
  const { rows: given, faults, leftOut } = await findImportKind(kind).read({} as Context, bytes);
  // the rows of a bank's table stand in the statement of their account
  const rows = given.flatMap((row) => (row.value as { rows?: (typeof row)[] }).rows ?? [row]);
  return {
    rows: rows.map(({ number }) => number),
    values: rows.map(({ value }) => value as { cents: bigint; number: string }),
    faults: faults.map((fault) => [fault.row, fault.column, describeImportFault(fault)]),
    leftOut: leftOut.map(({ row, why }) => `${row} ${why}`),
  };
}

const sheet = (rows: string): Buffer => packWorkbook(`<sheetData>${rows}</sheetData>`);
const inline = (texts: string[]): string =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;

describe('a number in scientific notation in a text column', () => {
  test('the document numbers of a CSV that Excel saved are faults with advice, each by its row', async () => {
    const text = `${HEADER}\r\n341/1234/56789-0;20/11/2026;2500,00;TED RECEBIDA PROVEDOR PIX;4,51070E+11\r\n341/1234/56789-0;20/11/2026;-49,90;TARIFA MENSALIDADE;1E+05\r\n`;
    const { rows, faults } = await read(Buffer.from(text, 'latin1'));
    const fault =
      'is a number in scientific notation, whose digits are lost: format the column as text and type it again';
    expect([rows, faults]).toEqual([
      [],
      [
        [2, 'number', fault],
        [3, 'number', fault],
      ],
    ]);
  });

  test.each(['4.5107E+11', '4,51E-07', ' 1,23457e+19 ', '451,07E+9', '-4,5E+11', '1E+100', '1e+21'])(
    '%j is a fault, in a CSV as in a text of an XLSX, in each text column',
    async (text) => {
      for (const row of [
        [text, '20/11/2026', '1,00', 'x', '1'],
        ['341/1234/56789-0', '20/11/2026', '1,00', text, '1'],
        ['341/1234/56789-0', '20/11/2026', '1,00', 'x', text],
      ]) {
        for (const file of [`${HEADER}\n${row.join(';')}`, sheet(inline(HEADER.split(';')) + inline(row))]) {
          const { rows, faults } = await read(file);
          expect([rows, faults]).toEqual([[], [[2, expect.any(String), expect.stringContaining('scientific')]]]);
        }
      }
    },
  );

  test.each(['12E5', '1E05', '4.51E11', 'PEDIDO 4,51E+11', 'E+11', '1E+', '1234E+11', '2026-11-20', '000045107'])(
    '%j is a code: no digits are lost',
    async (code) => {
      const { faults, values } = await read(`${HEADER}\n341/1234/56789-0;20/11/2026;1,00;x;${code}`);
      expect([faults, values[0]?.number]).toEqual([[], code]);
    },
  );

  test('a number of an XLSX with more digits than a double keeps is a fault of a text column', async () => {
    const cell = (value: string): string =>
      inline(['341/1234/56789-0', '20/11/2026', '1,00', 'x']).replace('</row>', `<c><v>${value}</v></c></row>`);
    const { rows, faults, values } = await read(
      sheet(inline(HEADER.split(';')) + cell('4.5107E+11') + cell('1.2345678901234567E+19')),
    );
    expect([rows, values[0]?.number]).toEqual([[2], '451070000000']);
    expect(faults).toEqual([[3, 'number', expect.stringContaining('of more than 15 digits')]]);
  });
});

describe('a CSV that names its separator', () => {
  const rowsWith = (separator: string): string =>
    [HEADER, ...ROWS].map((line) => line.replaceAll(',', '.').replaceAll(';', separator)).join('\r\n');
  test('the line sep=; is no row, and the rows keep their numbers', async () => {
    const { rows, faults, leftOut } = await read(`sep=;\n${HEADER}\n${ROWS.join('\n')}\n`);
    expect([rows, faults, leftOut]).toEqual([[3, 4], [], []]);
  });

  test.each([
    ['sep=,', ','],
    ['"sep=;"', ';'],
    ['"sep=,";;;;', ','],
    ['\uFEFFSEP=;', ';'],
    ['\uFEFF"sep=,"', ','],
    ['sep=\t', '\t'],
    ['sep=\\t', '\t'],
    ['sep=|', '|'],
    ['sep=";"', ';'],
  ])('%j is obeyed', async (line, separator) => {
    for (const end of ['\n', '\r\n']) {
      const { rows, faults, values } = await read(`${line}${end}${rowsWith(separator)}`);
      expect([faults, rows, values.map(({ cents }) => cents)]).toEqual([[], [3, 4], [250_000n, -4_990n]]);
    }
  });

  test('another separator than the named one is not guessed', async () => {
    const { rows, faults } = await read(`sep=,\n${HEADER}\n${ROWS.join('\n')}`);
    expect([rows, faults]).toEqual([[], [[2, null, expect.stringMatching(/^the header is conta; dia; valor/)]]]);
  });
});

describe('lines above the header and below the rows', () => {
  const above = ['Extrato de conta corrente;;;;', 'Agência 1234 Conta 56789-0;;;;', ';;;;'];

  test('the name of an account above the header and a total below the rows are left out by name', async () => {
    const { rows, faults, leftOut } = await read([...above, HEADER, ...ROWS, ';;2450,10;TOTAL;'].join('\n'));
    expect([rows, faults]).toEqual([[5, 6], []]);
    expect(leftOut).toEqual(['1 above_header', '2 above_header', '7 total']);
  });

  test.each([
    ['a title without separators', ['Extrato', 'Período: 01/11/2026 a 30/11/2026'], []],
    ['a table of another shape', ['Banco;341', 'Período;01/11/2026;30/11/2026', 'Saldo;1.000,00'], []],
    ['notes below', [], ['Extrato emitido pela internet;;;;', ';;;Fim do extrato;']],
    ['a total of each direction', [], [';;-49,90;Total de débitos;', ';;2.500,00;Total de créditos;']],
    ['a total without its sign', [], ['Total;;;;', ';;49,90;SUBTOTAL: saídas;']],
    ['a total without an amount', [], ['TOTAL GERAL;;;;']],
  ])('%s is left out', async (_, before, after) => {
    const { rows, faults, leftOut } = await read([...before, HEADER, ...ROWS, ...after].join('\n'));
    expect([rows, faults]).toEqual([[before.length + 2, before.length + 3], []]);
    expect(leftOut.map((one) => Number.parseInt(one, 10))).toEqual([
      ...before.map((__, at) => at + 1),
      ...after.map((__, at) => before.length + at + 4),
    ]);
  });

  test('a header in the first 20 rows with text is found in an XLSX too, with the total that a formula computed', async () => {
    const total = '<row><c/><c/><c><f>SUM(C2:C3)</f><v>2450.1</v></c><c t="inlineStr"><is><t>Total</t></is></c></row>';
    const rows = [HEADER, ...ROWS].map((line) => inline(line.split(';'))).join('');
    const { faults, leftOut, rows: found } = await read(sheet(inline(['Extrato']).repeat(19) + rows + total));
    expect([faults, found, leftOut.at(-1), leftOut.length]).toEqual([[], [21, 22], '23 total', 20]);
    const beyond = await read(sheet(inline(['Extrato']).repeat(20) + rows));
    expect(beyond.faults).toEqual([[1, null, expect.stringMatching(/^the header is /)]]);
  });

  test('a header that is nearly one is named by its row', async () => {
    const { faults } = await read([...above, 'conta;data;valor;histórico', ...ROWS].join('\n'));
    expect(faults).toEqual([[4, null, expect.stringMatching(/^the header is /)]]);
  });

  test.each([
    ['a row above the header', [ROWS[0], HEADER, ROWS[1]], [1, 'stands above the header: move it below, or delete it']],
    [
      'a row above the header with one fault',
      ['341/1234/56789-0;20/11/2026;1.500;TED;', HEADER, ROWS[1]],
      [1, 'stands above the header: move it below, or delete it'],
    ],
    ['a total between rows', [HEADER, ROWS[0], ';;2500,00;TOTAL;', ROWS[1]], [3, 'is a total between rows: delete it']],
    [
      'a total of rows that are missing',
      [HEADER, ...ROWS, ';;2.450,11;TOTAL;'],
      [4, 'is the total, and the rows add up to 2450.10: add the rows that are missing, or delete it'],
    ],
    ['a last row that lost its account', [HEADER, ...ROWS, ';20/11/2026;-1,00;TARIFA;'], [4, 'is required']],
    ['a last row with an amount alone', [HEADER, ...ROWS, ';;2450,10;;'], [4, 'is required']],
    ['a last row that was cut off', [HEADER, ...ROWS, '341/1234/56789-0'], [4, 'is required']],
    ['a row whose text names a total', [HEADER, ...ROWS, '341/1234/56789-0;;-1,00;TOTAL EXPRESS;'], undefined],
  ])('%s is a fault and never left out', async (_, lines, wanted) => {
    const { faults, leftOut } = await read(lines.join('\n'));
    if (wanted)
      expect(faults).toContainEqual(
        [wanted[0], expect.anything(), wanted[1]].map((one, at) => (at === 1 ? expect.toSatisfy(() => true) : one)),
      );
    else expect([faults.length > 0, leftOut]).toEqual([true, []]);
  });

  test('a title above the names of platforms may be a name: it is a fault that names its row', async () => {
    const { faults } = await read('Nomes de plataformas;\nplataforma;nome\n77;Loja\n', 'platforms');
    expect(faults).toEqual([[1, null, 'stands above the header: move it below, or delete it']]);
  });
});

describe('amounts as banks and people write them', () => {
  test.each([
    ['(49,90)', -4_990n],
    ['49,90-', -4_990n],
    ['49,90 D', -4_990n],
    ['49,90 C', 4_990n],
    ['\u221249,90', -4_990n],
    ['R$ -49,90', -4_990n],
    ['-R$ 49,90', -4_990n],
    ['+2.500,00', 250_000n],
    ['2 500,00', undefined],
    ['2.500,00 C', 250_000n],
  ])('%s of the reported file is %s cents', async (amount, cents) => {
    const { faults, values } = await read(`${HEADER}\n341/1234/56789-0;20/11/2026;${amount};LINHA;`);
    if (cents === undefined) expect(faults).toEqual([[2, 'amount', expect.stringContaining('must be an amount')]]);
    else expect([faults, values.map((one) => one.cents)]).toEqual([[], [cents]]);
  });

  test.each([
    ['49,90D', -4_990n],
    ['1.500,00 d', -150_000n],
    ['1,500.00 CR', 150_000n],
    ['49,90 DB', -4_990n],
    ['49,90 (-)', -4_990n],
    ['1.500,00 (+)', 150_000n],
    ['R$\u00A049,90-', -4_990n],
    ['(R$ 49,90)', -4_990n],
    ['R$ (49,90)', -4_990n],
    ['- 49,90', -4_990n],
    ['0,00 D', 0n],
    ['R$1.234.567,89', 123_456_789n],
  ])('%s is %s cents', (text, cents) => {
    expect(parseWrittenAmount(text)?.cents).toBe(cents);
  });

  test.each([
    ...['1.500', '1,500', '1.500 D', '(1.500)', '-49,90-', '-49,90 D', '-49,90 C', '(-49,90)', '(49,90', '49,90)'],
    ...['49,90 X', 'D 49,90', '49,90 - 1', '49,90 49,90', '1.23,45', 'US$ 1,00', '', '-', 'R$', '(  )', '4,99E+01'],
    ...['49,900', '--49,90', '49,90 CD', `${' '.repeat(41)}1`],
  ])('%j is refused: nothing is guessed', (text) => {
    expect(parseWrittenAmount(text)).toBeUndefined();
  });

  const forms: ((amount: string) => string)[] = [
    ...['-', '- ', '\u2212', '-R$ ', 'R$ -', 'R$\u00A0\u2212'].map((sign) => (amount: string) => sign + amount),
    ...['-', ' -', '\u2212', ' D', 'D', ' d', ' DB', ' (-)'].map((sign) => (amount: string) => amount + sign),
    (amount) => `(${amount})`,
    (amount) => `(R$ ${amount})`,
  ];
  const gains: ((amount: string) => string)[] = [
    ...['', '+', '+ ', 'R$ ', '+R$ '].map((sign) => (amount: string) => sign + amount),
    ...[' C', 'c', ' CR', '+', ' (+)'].map((sign) => (amount: string) => amount + sign),
  ];

  test('each form keeps sign and scale of any amount, in both languages', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, AMOUNT_CENTS_MAX),
        fc.constantFrom(...forms),
        fc.constantFrom(...gains),
        fc.constantFrom('pt-BR', 'en' as const),
        (cents, spent, gained, language) => {
          const text = formatTypedAmount(cents, language);
          expect(parseWrittenAmount(spent(text))).toEqual({ cents: -cents, isSigned: true });
          expect(parseWrittenAmount(gained(text))?.cents).toBe(cents);
        },
      ),
      propertyOptions(300, 3_000),
    );
  });

  test('a text that is taken has the digits and the sign that a person sees in it', () => {
    const part = fc.constantFrom(...'0123456789.,-+()DCR$ \u2212'.split(''), 'R$ ', ' D', ' C', ',00', '.00');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const read = parseWrittenAmount(text);
        if (!read) return;
        const [, whole = '', decimals = ''] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(text.replace(/[^\d.,]/g, '')) ?? [];
        const digits = BigInt(whole.replace(/\D/g, '')) * 100n + BigInt(decimals.padEnd(2, '0'));
        const isSpent = /[-\u2212]|D|\(\d|\(R\$ *\d/.test(text);
        expect([text, read.cents]).toEqual([text, isSpent ? -digits : digits]);
      }),
      propertyOptions(2_000, 20_000),
    );
  });
});

describe('a column D/C beside the amounts', () => {
  const header = 'conta;dia;valor;D/C;texto';
  const row = (amount: string, side: string) => `341/1234/56789-0;20/11/2026;${amount};${side};x`;

  test('gives each amount its direction', async () => {
    const rows = [row('49,90', 'D'), row('2.500,00', 'c'), row('1,00', 'Débito'), row('2,00', 'credit')];
    const { faults, values } = await read([header, ...rows].join('\n'));
    expect([faults, values.map(({ cents }) => cents)]).toEqual([[], [-4_990n, 250_000n, -100n, 200n]]);
  });

  test.each([
    ['no direction', row('49,90', ''), 'side', 'is required'],
    ['another word', row('49,90', 'E'), 'side', expect.stringContaining('must be one of')],
    ['a sign beside it', row('-49,90', 'D'), 'amount', expect.stringContaining('has a sign')],
    ['a suffix beside it', row('49,90 C', 'D'), 'amount', expect.stringContaining('has a sign')],
  ])('with %s is a fault', async (_, line, column, fault) => {
    expect((await read(`${header}\n${line}`)).faults).toEqual([[2, column, fault]]);
  });
});

describe('an amount with a decimal comma that a file with commas splits', () => {
  const split = /^may go on in the next field/;
  test.each([
    ['conta,dia,valor,texto', '341/1-0,2026-11-20,10,50'],
    ['conta,dia,valor,texto', '341/1-0,2026-11-20,-10,50 '],
    ['conta,dia,valor,texto', '341/1-0,2026-11-20,R$ 10,50-'],
    ['conta,dia,valor,texto', '341/1-0,2026-11-20,10,5'],
    ['conta,dia,valor,texto', '341/1-0,2026-11-20,1,500.50'],
    ['conta,dia,valor,texto,identificador', '341/1-0,2026-11-20,10,50,TED'],
    ['conta,dia,valor,texto,identificador', '341/1-0,2026-11-20,"10","50 D","TED"'],
    ['sep=,\nconta,dia,valor,número do documento,texto', '341/1-0,2026-11-20,1500,75'],
  ])('is a fault, in a row that is no longer than its header: %s', async (header, row) => {
    const { rows, faults } = await read(`${header}\n${row}\n`);
    expect([rows, faults]).toEqual([[], [[expect.any(Number), 'amount', expect.stringMatching(split)]]]);
  });

  test.each(['"10,50",50', '10.00,50', '10,TED 50', '10,2026', '10,', '10.5,50'])('is none in %s', async (fields) => {
    const { faults } = await read(`conta,dia,valor,texto\n341/1-0,2026-11-20,${fields}\n`);
    expect(faults).toEqual([]);
  });

  test('is no question of a file with other separators', async () => {
    const { faults } = await read('conta;dia;valor;texto\n341/1-0;2026-11-20;10;50\n');
    expect(faults).toEqual([]);
  });
});

test('two stray quotes that would make one field of two rows are a fault with their line', async () => {
  const rows = ['341/1-0;20/11/2026;1,00;"TED 5;7', '341/1-0;20/11/2026;2,00;PIX 6";8'];
  const { rows: read2, faults } = await read([HEADER, '341/1-0;20/11/2026;3,00;x;9', ...rows].join('\r\n'));
  expect([read2, faults]).toEqual([
    [2],
    [[3, 'text', expect.stringContaining('holds separators and the end of a line')]],
  ]);
  const inside = '341/1-0;20/11/2026;1,00;"TED\n""5""";7';
  expect((await read(`${HEADER}\n${inside}`)).faults).toEqual([]);
});

test.each(['\u001a', '\r\n\u001a', '\u001a\r\n', '\r\n\u001a\u001a'])(
  'a Ctrl-Z at the end of a CSV is no row: %j',
  async (end) => {
    const { rows, faults } = await read([HEADER, ...ROWS].join('\n') + end);
    expect([rows, faults]).toEqual([[2, 3], []]);
  },
);

describe('days that may be month/day', () => {
  const file = (days: string[]): string => `conta;dia;valor\n${days.map((day) => `341/1-0;${day};1,00`).join('\n')}`;
  test.each([
    [['11/05/2026', '11/06/2026', '11/09/2026']],
    [['10/05/2026', '10/12/2026', '11/03/2026']],
    [['2026-11-04', '11/05/2026', '11/06/2026']],
  ])('are a fault where they are months apart as day/month, and days apart as month/day: %j', async (days) => {
    const { faults } = await read(file(days));
    expect(faults).toEqual([[expect.any(Number), 'day', expect.stringMatching(/^may be month\/day/)]]);
  });

  test.each([
    [['05/11/2026', '06/11/2026']],
    [['11/05/2026', '11/06/2026', '13/06/2026']],
    [['11/05/2026', '11/05/2026']],
    [['2026-05-11', '2026-06-11']],
    [['05/10/2026', '12/11/2026', '01/12/2026']],
  ])('are day/month else: %j', async (days) => {
    expect((await read(file(days))).faults).toEqual([]);
  });
});

describe('sheets and rows that a person may not see', () => {
  const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const DOC = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const table = (text: string): string =>
    [HEADER.split(';'), ['341/1-0', '20/11/2026', '1,00', text]].map(inline).join('');
  const book = (...sheets: string[]): Buffer =>
    packZip([
      {
        name: 'xl/workbook.xml',
        content: `<workbook xmlns="${MAIN}" xmlns:r="${DOC}"><sheets>${sheets.map((_, at) => `<sheet name="P${at}" sheetId="${at + 1}" r:id="r${at}"/>`).join('')}</sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${sheets.map((_, at) => `<Relationship Id="r${at}" Type="${DOC}/worksheet" Target="s${at}.xml"/>`).join('')}</Relationships>`,
      },
      ...sheets.map((rows, at) => ({
        name: `xl/s${at}.xml`,
        content: `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
      })),
    ]);

  test('the rows of a second sheet with the header are no rows that vanish: the file is refused', async () => {
    const { rows, faults } = await read(book(table('A'), inline(['Resumo']), table('B')));
    expect([rows, faults]).toEqual([[], [[0, null, 'sheets 1 and 3 have the header: give each in a file of its own']]]);
  });

  test('the only sheet with the header is read, also behind a cover', async () => {
    for (const file of [book(inline(['Banco']), table('A')), book('', table('A')), book(table('A'), inline(['x']))])
      expect(await read(file)).toMatchObject({ rows: [2], faults: [] });
  });

  test.each(['1', 'true'])('a hidden row, such as one behind a filter, is a fault: hidden="%s"', async (hidden) => {
    const rows =
      table('A') + inline(['341/1-0', '20/11/2026', '9,00', 'B']).replace('<row>', `<row hidden="${hidden}">`);
    const { faults } = await read(sheet(rows));
    expect(faults).toEqual([[3, null, 'is hidden: show it, or delete it']]);
  });
});
