/** Files with hostile names, references and extras: the program that each is for reads it whole. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isPlatform } from '../../../src/domain/platform.ts';
import { nameAccount } from '../../../src/ledger/journal/plan-entries.ts';
import { openSheet } from '../../../src/reports/xlsx/open-sheet.ts';
import { writeWorkbook } from '../../../src/reports/xlsx/write-workbook.ts';
import { propertyOptions } from '../../support/property.ts';
import { OPENERS, writeFormat } from '../../support/write-format.ts';
import { readWorkbook, recalculate } from './read-workbook.ts';
import { readOfx, runReader } from './run-reader.ts';

const run = promisify(execFile);
const home = mkdtempSync(path.join(tmpdir(), 'confere-hostile-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** NUL, escapes, bidi marks, separators of lines, ends of fields and of entries, formulas, lone surrogates. */
const HOSTILE = [
  ...['\0', '\u001b[31m', '\u000b', '\u000c', '\u001a', '\u001c', '\u001e', '\u007f', '\u0085', '\u009f'],
  ...['\u202e', '\u2066', '\u200f', '\u200b', '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff', '\ud800', '\udc00'],
  ...['\r', '\n', '\r\n', '\t', '"', "'", '""', ';', ',', '|', '=1+1', '@SUM(A1)', '\\', '\\.', '%', '\u{1F600}'],
  ...['</STMTTRN>', '<NAME>', '&amp;', '&#0;', ']]>', '_x0000_', '\n2026-01-01 * x\n    a  1 BRL\n    b', '  ', ' ; x'],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 8 })
  .map((parts) => parts.join(''));
const texts = fc
  .array(text, { minLength: 1, maxLength: 30 })
  .map((list) => ['ANA\u0000 PAULA\u001b[31m', 'linha 1\u000blinha 2\u2028fim', ...HOSTILE, ...list]);

const PYTHON = `
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding=sys.argv[2]), delimiter=';'))
at = rows[0].index(sys.argv[3])
print(len(rows) - 1, len({len(row) for row in rows}), sum(int(row[at].replace(',', '')) for row in rows[1:]))
`;

describe.each([
  ['csv', 'utf-8-sig', 'Valor'],
  ['generic', 'utf-8-sig', 'valor'],
  ['conta-azul', 'utf-8-sig', 'Valor'],
  ['calima', 'cp1252', 'Valor'],
] as const)('%s with hostile texts', (format, encoding, amount) => {
  test("is read whole by Python's csv and by sqlite3", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (list) => {
        const { file, cents } = await writeFormat(home, list, OPENERS[format]);
        const read = await runReader('/usr/bin/python3', ['-c', PYTHON, file, encoding, amount]);
        expect(read.trim()).toBe(`${list.length} 1 ${cents}`);
        const query = `SELECT count(*) || ' ' || sum(replace("${amount}", ',', '')) FROM t;`;
        const commands = ['.mode csv', '.separator ;', `.import '${file}' t`, query];
        const { stdout, stderr } = await run('sqlite3', [':memory:', ...commands], { maxBuffer: 1 << 26 });
        // it names rows with another number of fields
        expect([stdout.trim().replaceAll('"', ''), stderr]).toEqual([`${list.length} ${cents}`, '']);
      }),
      propertyOptions(3, 60),
    );
  });
});

test('an OFX with hostile texts is read whole by ofxdump', async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (list) => {
      const { file, cents } = await writeFormat(home, list, OPENERS.ofx);
      const dump = await runReader('ofxdump', [file]);
      const amounts = [...dump.matchAll(/^\s*Total money amount: (-?\d+\.\d+)/gm)].map(([, one = '']) => one);
      expect(amounts).toHaveLength(list.length);
      expect(amounts.reduce((sum, one) => sum + BigInt(one.replace('.', '')), 0n)).toBe(cents);
    }),
    propertyOptions(3, 60),
  );
});

test('an OFX has each character of its charset, and shows where a text is cut', async () => {
  const whole = 'Sant´Ana nº 5 1½ m² “José”';
  const [exact, long] = ['x'.repeat(32), '&'.repeat(400)];
  const { file } = await writeFormat(home, [whole, 'Jose\u0301', exact, long], OPENERS.ofx);
  const found = (await readOfx(file)).flatMap((one) => one.transactions.map(({ name, memo }) => ({ name, memo })));
  expect(found.map(({ name }) => name)).toEqual([whole, 'José', exact, `${'&'.repeat(29)}...`]);
  expect(found[0]?.memo).toBe(`Recebimento 10:00:00 - ${whole} - ${whole}`);
  expect(found[3]?.memo).toBe(`Recebimento 10:00:00 - ${'&'.repeat(255 - 23 - 3)}...`);
});

test.each(['journal', 'journal-continued'] as const)(
  'a %s with hostile texts is read whole by hledger',
  async (format) => {
    await fc.assert(
      fc.asyncProperty(texts, async (list) => {
        const { file, cents } = await writeFormat(home, list, OPENERS[format]);
        await runReader('hledger', ['-f', file, 'check']);
        const rows = await runReader('hledger', ['-f', file, 'register', '-O', 'csv', 'Assets:', 'amt:>0']);
        expect(rows.trim().split('\n')).toHaveLength(list.length + 1);
        const balance = await runReader('hledger', ['-f', file, 'balance', '-N', 'Assets:', '--format', '%(total)']);
        expect(BigInt(balance.replace(/\D/g, ''))).toBe(cents);
      }),
      propertyOptions(3, 60),
    );
  },
);

test('hostile platforms, notes and names of people keep their movements apart', async () => {
  const list = [...new Set(['a  b', 'a:b', 'A b', 'a;b', '* x', '(x)', '[x]', '{n}', '=1', '~3b~', ...HOSTILE])];
  const platforms = list.filter(isPlatform);
  const change = (text: string) => ({ platform: text, adjustment: { kind: 'fee', note: text, by: text } });
  for (const format of ['journal', 'journal-continued'] as const) {
    const { file } = await writeFormat(home, platforms, OPENERS[format], change);
    const csv = await runReader('hledger', ['-f', file, 'balance', '-N', '--flat', '-O', 'csv', 'Assets:']);
    const read = csv.trim().split('\n').slice(1).sort();
    expect(read).toEqual(
      platforms.map((one) => `"${nameAccount('Assets:Provider:Available', one)}","12.34 BRL"`).sort(),
    );
  }
  const { file } = await writeFormat(home, platforms, OPENERS.ofx, change);
  const statements = await readOfx(file);
  expect(statements.map(({ transactions }) => transactions.map(({ amount }) => amount))).toEqual(
    platforms.map(() => ['12.34']),
  );
  expect(new Set(statements.map(({ id }) => id)).size).toBe(platforms.length);
});

test('an XLSX with hostile texts is read whole by openpyxl and by LibreOffice', async () => {
  const [list] = fc.sample(texts, 1);
  const { signal } = new AbortController();
  let parts = 0;
  const scratch = () => ({ file: path.join(home, `part-${parts++}`), signal });
  const widths = [20, 20];
  const sheet = openSheet({ title: 'x', widths, frozenRows: 1 }, { name: 'xl/worksheets/sheet1.xml', ...scratch() });
  sheet.addRow([{ text: 'texto' }, { text: 'valor' }]);
  for (const one of list ?? []) sheet.addRow([{ text: one }, { cents: 1_234n }]);
  const file = path.join(home, 'hostile.xlsx');
  const about = {
    title: 'x',
    subject: 'x',
    keywords: 'x',
    description: 'x',
    version: 'x',
    madeAt: new Date('2026-11-20'),
  };
  await writeWorkbook(file, [await sheet.end()], about, scratch);
  for (const sheets of [await readWorkbook(file), await recalculate(file)]) {
    const amounts = (sheets[0]?.rows ?? []).slice(1).map((row) => row[1]?.value);
    expect(amounts).toEqual(Array(list?.length).fill(12.34));
  }
});
