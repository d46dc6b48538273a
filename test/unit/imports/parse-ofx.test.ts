import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { describeImportFault } from '../../../src/imports/import-kind.ts';
import { OFX_LINES_MAX, parseOfx } from '../../../src/imports/ofx/parse-ofx.ts';
import { parseOfxAmount } from '../../../src/imports/ofx/parse-values.ts';
import { OFX_BYTES_MAX, type OfxFault } from '../../../src/imports/ofx/read-ofx-elements.ts';
import { type MadeLine, makeOfx } from '../../support/make-ofx.ts';
import { propertyOptions } from '../../support/property.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const parse = (text: string) => parseOfx(bytes(text));
const describeOfxFault = (fault: OfxFault): string =>
  describeImportFault({ row: 0, column: null, of: 'ofx', ...fault });
const faultsOf = async (text: string): Promise<string[]> => (await parse(text)).faults.map(describeOfxFault);
const LINE: MadeLine = { day: '2026-10-05', amount: '500.00', fitid: 'f1', memo: 'TED' };
const file = makeOfx({ lines: [LINE], balance: { amount: '900.10', day: '2026-10-31' } });
/** The number of the line of the first file that has this text. */
const lineOf = (text: string, part: string): number => text.split('\r\n').findIndex((one) => one.includes(part)) + 1;

describe('a statement', () => {
  it.each(['sgml', 'closed', 'xml'] as const)('in %s is read with its account, lines and balance', async (form) => {
    const lines: MadeLine[] = [
      { ...LINE, name: 'Padaria C&A <filial>', checkNumber: '000123' },
      { day: '2026-10-06', amount: '-0.01', fitid: 'f2' },
    ];
    const given = makeOfx({ branch: '1234', lines, balance: { amount: '-12.30', day: '2026-10-31' } }, form);
    expect(await parse(given)).toMatchObject({
      faults: [],
      statements: [
        {
          account: '341/1234/56789-0',
          from: '2026-10-01',
          to: '2026-10-31',
          balance: { cents: -1230n, day: '2026-10-31' },
          ...{
            missing: [],
            hasCurrency: true,
            isWhole: { balance: false, lines: false },
            balanceRows: [],
            openRows: [],
          },
          lines: [
            {
              ...{ line: lineOf(given, '<STMTTRN>'), fitid: 'f1', day: '2026-10-05', cents: 50_000n, type: 'CREDIT' },
              ...{ name: 'Padaria C&A <filial>', memo: 'TED', checkNumber: '000123', referenceNumber: '' },
            },
            {
              ...{ line: expect.any(Number), fitid: 'f2', day: '2026-10-06', cents: -1n, type: 'DEBIT' },
              ...{ name: '', memo: '', checkNumber: '', referenceNumber: '' },
            },
          ],
        },
      ],
    });
  });

  it('in any form, with any lines, is read without a loss or a change', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'aZ0 &<>çã/.-_;'), maxLength: 30 });
    const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
    const line = fc.record({ day, cents: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), memo: text, name: text });
    const form = fc.constantFrom('sgml', 'closed', 'xml');
    const lineEnd = fc.constantFrom('\r\n', '\n', '\r', '');
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        form,
        lineEnd,
        fc.boolean(),
        async (lines, how, ends, isUtf8) => {
          const made = lines.map(({ cents, day: at, ...texts }, index) => ({
            ...{ fitid: `f${index}`, day: at.toISOString().slice(0, 10), amount: writeAmount(cents), ...texts },
          }));
          const written = makeOfx({ lines: made }, how, ends === '' && how === 'sgml' ? '\n' : ends);
          const { statements, faults } = await parseOfx(Buffer.from(written, isUtf8 ? 'utf8' : 'latin1'));
          expect(faults).toEqual([]);
          const clean = (one: string): string => one.replace(/\s+/g, ' ').trim();
          expect(statements[0]?.lines.map(({ cents, day: at, memo, name }) => ({ cents, at, memo, name }))).toEqual(
            made.map(({ memo, name, day: at }, index) => ({
              ...{ cents: lines[index]?.cents, at, memo: clean(memo), name: clean(name) },
            })),
          );
        },
      ),
      propertyOptions(60, 3_000),
    );
  });

  it('of Banco do Brasil may have rows of balances without a FITID: they are counted, and are no lines', async () => {
    const rows = `<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20261001<TRNAMT>77.00<FITID><MEMO>Saldo Anterior</STMTTRN>`;
    const { statements, faults } = await parse(file.replace('<STMTTRN>', `${rows}<STMTTRN>`));
    expect([faults, statements[0]?.balanceRows.length, statements[0]?.lines.length]).toEqual([[], 1, 1]);
    for (const text of ['S A L D O', '*** S A L D O  A N T E R I O R ***', 'SALDO: DISPONIVEL', '  s a l d o']) {
      const spaced = await parse(file.replace('<STMTTRN>', `${rows.replace('Saldo Anterior', text)}<STMTTRN>`));
      expect([text, spaced.faults, spaced.statements[0]?.balanceRows.length]).toEqual([text, [], 1]);
    }
    for (const text of ['SALDOS LTDA', 'PAGAMENTO DE SALDO', 'SALARIO'])
      expect(
        (await parse(file.replace('<STMTTRN>', `${rows.replace('Saldo Anterior', text)}<STMTTRN>`))).faults,
      ).toHaveLength(1);
    expect(await faultsOf(file.replace('<FITID>f1', '<FITID>'))).toEqual([
      `line ${lineOf(file, '<FITID>')}: FITID is missing`,
    ]);
  });

  it('may have values without a text, and elements of the bank, without end tags', async () => {
    const given = file.replace('<MEMO>TED', '<CHECKNUM>\r\n<XBANCO.NOTA>\r\n<REFNUM>R-77\r\n<MEMO>TED');
    const [statement] = (await parse(given)).statements;
    expect(statement?.lines).toMatchObject([{ checkNumber: '', referenceNumber: 'R-77', memo: 'TED' }]);
  });

  it('may have transactions and balances that are never closed, markup in a text, and no header', async () => {
    const given = file
      .replaceAll(/<\/(?:STMTTRN|BANKTRANLIST|LEDGERBAL|BANKACCTFROM)>\r\n/g, '')
      .replace(
        '<MEMO>TED',
        '<MEMO>TED <b>X</b> < 3 <BR/>\r\n<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261006<TRNAMT>-1.00<FITID>f2',
      )
      .replace(/^[^<]*/, '');
    expect(await parse(given)).toMatchObject({
      faults: [],
      statements: [
        { balance: { cents: 90_010n }, lines: [{ memo: 'TED <b>X</b> < 3 <BR/>' }, { cents: -100n, fitid: 'f2' }] },
      ],
    });
    // a tag of a transaction is none of the text
    expect(await faultsOf(file.replace('<MEMO>TED', '<MEMO>TED <TRNAMT>9.00'))).toHaveLength(1);
  });

  it('may lack a balance, or the day of it, and dates that banks fill with zeros', async () => {
    const without = makeOfx({ lines: [LINE] });
    expect((await parse(without)).statements[0]?.balance).toBeNull();
    const zeros = file
      .replace('<DTASOF>20261031', '<DTASOF>00000000')
      .replace('<DTSTART>20261001', '<DTSTART>00000000000000');
    expect((await parse(zeros)).statements[0]).toMatchObject({ balance: null, from: null, to: '2026-10-31' });
  });
});

describe('an amount', () => {
  it.each([
    ['1234.56', 123_456n],
    ['-1234,56', -123_456n],
    ['+12', 1200n],
    ['-0012.3', -1230n],
    ['0.00', 0n],
    ['10000000000000.00', 10n ** 15n],
    ['-8.95000', -895n],
    ['24,9900', 2_499n],
    ['0.500', 50n],
    ['1234.500', 123_450n],
  ])('%s is read to the cent', async (text, cents) => {
    expect(parseOfxAmount(text)).toBe(cents);
  });

  it.each([
    '1.000',
    '1.500',
    '-999,990',
    '8.95100',
    '1,234.56',
    '1.234,56',
    '1e3',
    '',
    '-',
    '.5',
    '12.',
    '--1',
    '1 000',
    'R$ 1',
    '10000000000000.01',
  ])('%s is refused: it is never rounded or guessed', (text) => {
    expect(parseOfxAmount(text)).toBeUndefined();
  });
});

describe('a file with a fault is refused with its line', () => {
  it.each([
    [
      'an amount with three decimals',
      '<TRNAMT>500.00',
      '<TRNAMT>500.001',
      '<STMTTRN>',
      'TRNAMT must be an amount with at most two decimals and without grouping',
    ],
    ['a missing amount', '<TRNAMT>500.00\r\n', '', '<STMTTRN>', 'TRNAMT is missing'],
    ['two amounts', '<TRNAMT>500.00', '<TRNAMT>500.00<TRNAMT>5.00', '<TRNAMT>', 'TRNAMT is there twice'],
    [
      'a day that does not exist',
      '20261005',
      '20260231',
      '<STMTTRN>',
      'DTPOSTED must be a date: YYYYMMDD, perhaps with a time',
    ],
    ['another currency', '<CURDEF>BRL', '<CURDEF>USD', '<STMTRS>', 'CURDEF must be BRL'],
    [
      'a line in another currency',
      '<FITID>f1',
      '<FITID>f1<CURRENCY><CURSYM>EUR</CURRENCY>',
      '<STMTTRN>',
      'CURSYM must be BRL',
    ],
    [
      'a correction',
      '<FITID>f1',
      '<FITID>f1<CORRECTFITID>f0',
      '<STMTTRN>',
      'CORRECTFITID: a transaction that replaces an earlier one is not supported',
    ],
    [
      'an account of other characters',
      '<ACCTID>56789-0',
      '<ACCTID>5;DROP',
      '<BANKACCTFROM>',
      'ACCTID may hold letters, digits, blanks, points, hyphens and slashes',
    ],
    [
      'an error of the bank',
      '<SEVERITY>INFO\r\n</STATUS>\r\n<STMTRS>',
      '<SEVERITY>ERROR</STATUS>\r\n<STMTRS>',
      '<STMTTRNRS>',
      'the bank answered with an error instead of a statement (STATUS)',
    ],
    [
      'a file of Confere',
      '<BANKID>341',
      '<BANKID>CONFERE',
      '<BANKACCTFROM>',
      'Confere wrote this file: import the one of your bank',
    ],
    [
      'an end without its start',
      '</BANKTRANLIST>',
      '</STMTTRN></BANKTRANLIST>',
      '</BANKTRANLIST>',
      '</STMTTRN> has no <STMTTRN> before it',
    ],
    [
      'text where a tag belongs',
      '</STMTTRN>',
      '</STMTTRN>oops',
      '</STMTTRN>',
      'a tag must be here, with nothing before it',
    ],
    [
      'a DTD',
      '<BANKMSGSRSV1>',
      '<!DOCTYPE x><BANKMSGSRSV1>',
      '<BANKMSGSRSV1>',
      'a tag must be here, with nothing before it',
    ],
    ['a bare < elsewhere', '<CURDEF>BRL', '<CURDEF>BRL < b', '<CURDEF>', 'a tag must be here, with nothing before it'],
  ])('%s', async (_, from, to, at, fault) => {
    expect(file).toContain(from);
    const given = file.replace(from, to);
    expect(await faultsOf(given)).toEqual([`line ${lineOf(given, at)}: ${fault}`]);
    expect((await parse(given)).statements).toEqual([]);
  });

  it('in XML also for a value that is not closed', async () => {
    const given = makeOfx({ lines: [LINE] }, 'xml').replace('</MEMO>', '');
    expect(await faultsOf(given)).toEqual([`line ${lineOf(given, '<MEMO>')}: <MEMO> is not closed`]);
  });

  it('also where it is no OFX, is empty, binary, or of a credit card', async () => {
    const noHeader = ['line 1: the file does not begin with a header of OFX 1.x or 2.x'];
    for (const text of ['', 'hello', 'data;valor\n1;2', '{"a":1}'])
      expect(await faultsOf(text), text).toEqual(noHeader);
    expect(await faultsOf('<OFX></OFX>')).toEqual(['line 1: the file has no bank statement (STMTRS)']);
    const isBinary = ['line 1: the file is not a text in UTF-8 or windows-1252'];
    expect((await parseOfx(Buffer.from(file, 'utf16le'))).faults.map(describeOfxFault)).toEqual(isBinary);
    const card = 'OFXHEADER:100\n<OFX><CREDITCARDMSGSRSV1><A>1</CREDITCARDMSGSRSV1></OFX>';
    expect(await faultsOf(card)).toEqual([
      'line 2: it is the statement of a credit card: Confere reads those of bank accounts (STMTRS)',
    ]);
  });

  it('all at once', async () => {
    const lines = [LINE, { ...LINE, amount: '1.000' }, { ...LINE, day: '2026-13-01', fitid: 'f3' }];
    const given = makeOfx({ lines, to: '2026-10-31' });
    const [, second, third] = given.split('\r\n').flatMap((text, index) => (text === '<STMTTRN>' ? [index + 1] : []));
    expect(await faultsOf(given)).toEqual([
      `line ${second}: TRNAMT must be an amount with at most two decimals and without grouping`,
      `line ${third}: DTPOSTED must be a date: YYYYMMDD, perhaps with a time`,
    ]);
  });

  it('at any place where it is cut off', async () => {
    const end = file.trimEnd().length;
    for (let at = 0; at < end; at += 7) {
      const { statements, faults } = await parse(file.slice(0, at));
      expect([statements, faults.length], `cut at ${at}`).toEqual([[], 1]);
    }
  });
});

describe('a hostile file', () => {
  test('is bounded by its size, its elements, their depth and its transactions, each by name', async () => {
    const head = 'OFXHEADER:100\n';
    const big = Buffer.alloc(OFX_BYTES_MAX + 1, 0x20);
    expect((await parseOfx(big)).faults.map(describeOfxFault)).toEqual(['line 1: the file is larger than 8 MiB']);
    expect(await faultsOf(`${head}<OFX>${'<A>x'.repeat(400_001)}</OFX>`)).toEqual([
      'line 2: the file has more than 400000 elements',
    ]);
    expect(await faultsOf(`${head}<OFX>${'<A>'.repeat(50_000)}</OFX>`)).toEqual([
      'line 2: elements are nested deeper than 32 levels',
    ]);
    const lines = Array.from({ length: OFX_LINES_MAX + 1 }, (_, index) => ({ ...LINE, fitid: `f${index}` }));
    const [fault, ...others] = await faultsOf(makeOfx({ lines }));
    expect(fault).toContain(`the file has more than ${OFX_LINES_MAX} transactions: export fewer days at once`);
    expect(others).toEqual([]);
  });

  test('of any bytes is refused or read, and takes time in proportion to its size', async () => {
    const head = 'OFXHEADER:100\n<OFX>';
    const long = 200_000;
    for (const text of [
      `OFXHEADER:${' '.repeat(long)}<OFX>`,
      `${'<?'.repeat(long)}<OFX>`,
      `${head}${' '.repeat(long)}x`,
      `${head}${'</A>'.repeat(long)}`,
      `${head}${'<A'.repeat(long)}`,
      `${head}<A>${'&'.repeat(long)}</A></OFX>`,
      `${head}<A>${'&#0;'.repeat(long)}</A></OFX>`,
      file.replace('500.00', `${'0'.repeat(long)}x`),
      file.replace('20261005', `${'2'.repeat(long)}x`),
      file.replace('56789-0', `${'5 '.repeat(long)};`),
      file.replace('f1', 'f'.repeat(long)),
      file.replace('<MEMO>TED', `<MEMO>${'<'.repeat(long)}`),
      `${'<?OFX?><OFX><A>1</A></OFX>'.repeat(20_000)}`,
      `${head}${'<STMTTRN>'.repeat(long)}`,
    ])
      expect((await parse(text)).faults.length, text.slice(0, 40)).toBeGreaterThan(0);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (noise) => {
        const { statements, faults } = await parseOfx(Buffer.concat([bytes(head), noise]));
        expect(statements.length === 0 || faults.length === 0).toBe(true);
      }),
      propertyOptions(100, 20_000),
    );
  });

  test('a change of one character is refused, or read as another file that is whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(file.length - 1),
        fc.constantFrom('<', '>', '/', '&', '9', '-', ' ', '\n'),
        async (at, char) => {
          const { statements, faults } = await parse(file.slice(0, at) + char + file.slice(at + 1));
          expect([statements.length, faults.length > 0]).toEqual(faults.length > 0 ? [0, true] : [1, false]);
        },
      ),
      propertyOptions(200, 20_000),
    );
  });
});

function writeAmount(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
