import fc from 'fast-check';
import { expect, test } from 'vitest';
import { showUnseen } from '../../../src/domain/language/show-unseen.ts';
import { escapeCsvField } from '../../../src/reports/render/formats/write-csv.ts';
import { columnName, escapeText, renderCell } from '../../../src/reports/xlsx/render-cell.ts';
import { STYLE_INDEX } from '../../../src/reports/xlsx/render-styles.ts';
import { describeCode, fill } from '../../../src/texts/fill.ts';
import { formatMoment } from '../../../src/texts/reports/texts.ts';
import { propertyOptions } from '../../support/property.ts';

/** Any UTF-16, with lone surrogates, and with characters of formulas and XML more often. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(...[...'=+-@;"\'\t\r\n ＝'].map((c) => c.charCodeAt(0))),
    ),
  )
  .map((codes) => String.fromCharCode(...codes));

test('no text of data starts like a formula in the CSV, and each is read back whole', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const field = escapeCsvField(text);
      const inside = field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
      expect(inside).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/u);
      const shown = showUnseen(text).toWellFormed();
      expect(inside === shown || inside === `'${shown}`).toBe(true);
    }),
    propertyOptions(30, 300),
  );
});

test.each([
  ['=1+1', "'=1+1"],
  [' =1+1', "' =1+1"],
  ['＝1', "'＝1"],
  ['-5', "'-5"],
  ['a;b', '"a;b"'],
  ['=a;"b"', '"\'=a;""b"""'],
  ['pedido-1', 'pedido-1'],
  ['ANA\u0000 PAULA\u001b[31m\u202e', 'ANA⟨U+0000⟩ PAULA⟨U+001B⟩[31m⟨U+202E⟩'],
])('the CSV writes %j as %j', (text, field) => expect(escapeCsvField(text)).toBe(field));

test('a cell with any text is valid XML', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const xml = escapeText(text);
      expect(xml).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;)/);
      expect([...xml].filter((one) => one < ' ' && one !== '\t' && one !== '\n')).toEqual([]);
      expect(xml).not.toMatch(/[\uFFFE\uFFFF]/);
      expect(xml.isWellFormed()).toBe(true);
    }),
    propertyOptions(30, 300),
  );
  expect(escapeText('a\r\nb _x0041_ <c> & "d"')).toBe('a_x000D_\nb _x005F_x0041_ &lt;c&gt; &amp; &quot;d&quot;');
  expect(escapeText('pedido-\u202e321\u200b\u0001')).toBe('pedido-⟨U+202E⟩321⟨U+200B⟩⟨U+0001⟩');
  for (const one of ['x', '\u200b']) {
    const cut = escapeText(one.repeat(40_000));
    expect([cut.length, cut.endsWith('…')]).toEqual([32_767, true]);
  }
});

test('a cell of money is its decimal text, to the cent at any size; no float is in between', () => {
  expect(renderCell('B7', { cents: 30n })).toBe(`<c r="B7" s="${STYLE_INDEX.money}"><v>0.30</v></c>`);
  expect(renderCell('B7', { cents: -9_007_199_254_740_993n })).toContain('<v>-90071992547409.93</v>');
  expect(renderCell('B7', { cents: 5n, formula: 'SUM(B1:B6)' })).toContain('<f>SUM(B1:B6)</f><v>0.05</v>');
  expect(renderCell('B7', { cents: null })).toBe(`<c r="B7" s="${STYLE_INDEX.money}"/>`);
});

test('a moment is the wall clock as given, also at a time that the zone skipped', () => {
  expect(renderCell('A1', { moment: '2026-03-11 12:00:00' })).toContain('<v>46092.5</v>');
  // midnight did not exist in São Paulo on that day
  expect(renderCell('A1', { moment: '2018-11-04 00:00:00' })).toContain('<v>43408</v>');
});

test('text that starts like a formula stays text when a person edits it', () => {
  expect(renderCell('A1', { text: '=1+1' })).toBe(
    `<c r="A1" s="${STYLE_INDEX.quotedText}" t="inlineStr"><is><t>=1+1</t></is></c>`,
  );
});

test('a text keeps blanks at its ends and its lines', () => {
  for (const text of [' a', 'a ', 'a\nb', '\ta', `${'a'.repeat(32_766)} `])
    expect(renderCell('A1', { text })).toContain('<t xml:space="preserve">');
  expect(renderCell('A1', { text: 'a  b\u00a0' })).toContain('<t>a  b\u00a0</t>');
});

test('columns are named as spreadsheets do', () => {
  expect([0, 25, 26, 51, 52, 701, 702].map(columnName)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA']);
});

test('values are filled into texts, and a code without a text stays as it is', () => {
  expect(fill('{a} de {b} {c}', { a: 1, b: 'x' })).toBe('1 de x {c}');
  expect(describeCode({ paid: 'Pago' }, 'paid')).toBe('Pago');
  expect(describeCode({ paid: 'Pago' }, 'constructor')).toBe('constructor');
  expect(formatMoment('2026-03-11 23:30:00')).toBe('11/03/2026 23:30:00');
});
