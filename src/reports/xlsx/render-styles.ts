/**
 * The styles of a workbook's cells: a name here, a number in `styles.xml`. The number is the position in `STYLES`, so this
 * list alone decides how a cell appears.
 */
const FONTS = {
  plain: '<font><sz val="10"/><color rgb="FF1F2933"/><name val="Calibri"/><family val="2"/></font>',
  bold: '<font><b/><sz val="10"/><color rgb="FF1F2933"/><name val="Calibri"/><family val="2"/></font>',
  header: '<font><b/><sz val="10"/><color rgb="FFFFFFFF"/><name val="Calibri"/><family val="2"/></font>',
  title: '<font><b/><sz val="14"/><color rgb="FF17375E"/><name val="Calibri"/><family val="2"/></font>',
  section: '<font><b/><sz val="12"/><color rgb="FF17375E"/><name val="Calibri"/><family val="2"/></font>',
  muted: '<font><sz val="9"/><color rgb="FF66788A"/><name val="Calibri"/><family val="2"/></font>',
  good: '<font><b/><sz val="10"/><color rgb="FF1E6B3A"/><name val="Calibri"/><family val="2"/></font>',
  bad: '<font><b/><sz val="10"/><color rgb="FFB3261E"/><name val="Calibri"/><family val="2"/></font>',
  warn: '<font><b/><sz val="10"/><color rgb="FF8A5A00"/><name val="Calibri"/><family val="2"/></font>',
} as const;

const solid = (rgb: string): string =>
  `<fill><patternFill patternType="solid"><fgColor rgb="${rgb}"/><bgColor indexed="64"/></patternFill></fill>`;

// the format fixes the first two
const FILLS = {
  none: '<fill><patternFill patternType="none"/></fill>',
  reserved: '<fill><patternFill patternType="gray125"/></fill>',
  header: solid('FF17375E'),
  total: solid('FFE8EEF6'),
  good: solid('FFE3F3E8'),
  bad: solid('FFFBE4E2'),
  warn: solid('FFFFF2CC'),
  shown: solid('FFF3F6FA'),
} as const;

const side = (name: string, style: string, rgb: string): string =>
  `<${name} style="${style}"><color rgb="${rgb}"/></${name}>`;

const BORDERS = {
  none: '<border><left/><right/><top/><bottom/><diagonal/></border>',
  hair: `<border><left/><right/><top/>${side('bottom', 'hair', 'FFB8C4D0')}<diagonal/></border>`,
  total: `<border><left/><right/>${side('top', 'thin', 'FF17375E')}${side('bottom', 'double', 'FF17375E')}<diagonal/></border>`,
  section: `<border><left/><right/><top/>${side('bottom', 'medium', 'FF17375E')}<diagonal/></border>`,
} as const;

const FORMATS = {
  general: [0, undefined],
  text: [49, undefined],
  count: [164, '#,##0'],
  money: [165, '#,##0.00;[Red]-#,##0.00'],
  moment: [166, 'dd/mm/yyyy hh:mm:ss'],
  day: [167, 'dd/mm/yyyy'],
} as const;

type Style = {
  font: keyof typeof FONTS;
  fill?: keyof typeof FILLS;
  border?: keyof typeof BORDERS;
  format?: keyof typeof FORMATS;
  align?: 'left' | 'center' | 'right';
  wraps?: boolean;
  indented?: boolean;
  /** A text that is too wide becomes smaller. */
  shrinks?: boolean;
  /** Excel then keeps the cell a text when a person edits it, also one that starts like a formula. */
  quoted?: boolean;
};

const STYLES = {
  plain: { font: 'plain' },
  text: { font: 'plain', format: 'text', border: 'hair', align: 'left', indented: true },
  quotedText: { font: 'plain', format: 'text', border: 'hair', align: 'left', indented: true, quoted: true },
  wrapped: { font: 'plain', format: 'text', border: 'hair', align: 'left', indented: true, wraps: true },
  quotedWrapped: {
    ...{ font: 'plain', format: 'text', border: 'hair', align: 'left', indented: true, wraps: true },
    quoted: true,
  },
  moment: { font: 'plain', format: 'moment', border: 'hair', align: 'left', indented: true },
  day: { font: 'plain', format: 'day', border: 'hair', align: 'left', indented: true },
  momentRight: { font: 'plain', format: 'moment', border: 'hair', align: 'right', indented: true },
  dayRight: { font: 'plain', format: 'day', border: 'hair', align: 'right', indented: true },
  money: { font: 'plain', format: 'money', border: 'hair', align: 'right', indented: true },
  count: { font: 'plain', format: 'count', border: 'hair', align: 'right', indented: true },
  header: { font: 'header', fill: 'header', align: 'left', wraps: true, indented: true },
  headerRight: { font: 'header', fill: 'header', align: 'right', wraps: true, indented: true },
  title: { font: 'title', align: 'left', indented: true },
  tableTitle: { font: 'title', align: 'left', indented: true, shrinks: true },
  section: { font: 'section', border: 'section', align: 'left', indented: true },
  muted: { font: 'muted', align: 'left', indented: true },
  mutedWrapped: { font: 'muted', align: 'left', wraps: true, indented: true },
  hint: { font: 'muted', border: 'hair', align: 'left', indented: true },
  label: { font: 'plain', border: 'hair', align: 'left', indented: true },
  labelBold: { font: 'bold', fill: 'total', border: 'total', align: 'left', indented: true },
  moneyTotal: { font: 'bold', fill: 'total', border: 'total', format: 'money', align: 'right', indented: true },
  countTotal: { font: 'bold', fill: 'total', border: 'total', format: 'count', align: 'right', indented: true },
  textTotal: { font: 'bold', fill: 'total', border: 'total', format: 'text', align: 'left', indented: true },
  good: { font: 'good', fill: 'good', border: 'hair', align: 'left', indented: true },
  bad: { font: 'bad', fill: 'bad', border: 'hair', align: 'left', indented: true },
  warnRight: { font: 'warn', fill: 'warn', border: 'hair', align: 'right', wraps: true, indented: true },
  textShown: { font: 'bold', fill: 'shown', align: 'left', indented: true },
  countShown: { font: 'bold', fill: 'shown', format: 'count', align: 'left', indented: true },
  moneyShown: { font: 'bold', fill: 'shown', format: 'money', align: 'right', indented: true },
  moneyGood: { font: 'good', fill: 'good', border: 'hair', format: 'money', align: 'right', indented: true },
  moneyBad: { font: 'bad', fill: 'bad', border: 'hair', format: 'money', align: 'right', indented: true },
} as const satisfies Record<string, Style>;

export type StyleName = keyof typeof STYLES;

/** The number of each style in `styles.xml`. */
export const STYLE_INDEX = Object.fromEntries(Object.keys(STYLES).map((name, index) => [name, index])) as Record<
  StyleName,
  number
>;

/** The workbook's `styles.xml`. */
export function renderStyles(): string {
  const formats = Object.values(FORMATS).filter(([, code]) => code !== undefined);
  const list = (tag: string, items: readonly string[]): string =>
    `<${tag} count="${items.length}">${items.join('')}</${tag}>`;
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
    list(
      'numFmts',
      formats.map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`),
    ),
    list('fonts', Object.values(FONTS)),
    list('fills', Object.values(FILLS)),
    list('borders', Object.values(BORDERS)),
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
    list('cellXfs', Object.values(STYLES).map(renderStyle)),
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
    '</styleSheet>',
  ].join('');
}

function renderStyle(style: Style): string {
  const at = (names: object, name: string): number => Object.keys(names).indexOf(name);
  const [numFmtId] = FORMATS[style.format ?? 'general'];
  const align = [
    style.align ? `horizontal="${style.align}"` : '',
    'vertical="center"',
    style.wraps ? 'wrapText="1"' : '',
    style.indented ? 'indent="1"' : '',
    style.shrinks ? 'shrinkToFit="1"' : '',
  ].filter(Boolean);
  const ids = `numFmtId="${numFmtId}" fontId="${at(FONTS, style.font)}" fillId="${at(FILLS, style.fill ?? 'none')}"`;
  const flags = `applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1" applyAlignment="1"`;
  const quote = style.quoted ? ' quotePrefix="1"' : '';
  const border = `borderId="${at(BORDERS, style.border ?? 'none')}" xfId="0"`;
  return `<xf ${ids} ${border}${quote} ${flags}><alignment ${align.join(' ')}/></xf>`;
}
