import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SHARE_LINES } from '../../../src/reports/orders/share-receipts.ts';
import { LINES } from '../../../src/reports/read/create-tally.ts';
import { COLUMNS_VERSION } from '../../../src/reports/render/columns.ts';
import { TABLE_COLUMNS } from '../../../src/reports/render/table-columns.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';

const read = (name: string): string => readFileSync(path.resolve(import.meta.dirname, '../../../docs', name), 'utf8');
const [page, sheets] = [read('spreadsheet.md'), read('sheets.md')];
const [pt, en] = [textsOf('pt-BR'), textsOf('en')];

/** The rows of the table under a heading, each as its cells. */
function tableUnder(heading: string, text = page): string[][] {
  const [, section] = text.split(`${heading}\n`);
  const lines = (section ?? '').split(/\n#/)[0]?.split('\n') ?? [];
  return lines
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Columns that many sheets have: the page describes them once. */
const common = new Set(
  tableUnder('## On many sheets', sheets).flatMap(([names = '']) => {
    const [first = '', second] = names.split(', ');
    return second ? [first, second, first.replace(/\S+$/, second)] : [first];
  }),
);

test.each(Object.entries(TABLE_COLUMNS))('docs/sheets.md lists the columns of %s', (name, list) => {
  const sheet = name as keyof typeof TABLE_COLUMNS;
  const documented = tableUnder(`## ${pt.sheets[sheet]} (${en.sheets[sheet]})`, sheets);
  const are = list.map((one) => [pt.columns[one.name], en.columns[one.name], one.type, one.totals ? 'sum' : '']);
  expect(documented.map((row) => row.slice(0, 4))).toEqual(are);
  for (const [header = '', , , , is, from] of documented)
    expect([header, is === '', from === '']).toEqual(
      common.has(header) && is === '' ? [header, true, true] : [header, false, false],
    );
});

test('docs/spreadsheet.md lists every line of Resumo, in both languages', () => {
  const documented = tableUnder('## Resumo (Summary)').map(([one, other]) => `${one} / ${other}`);
  const lines = [
    'opening',
    ...LINES,
    'closing',
    'held',
    'ledger',
    'sheetsSum',
    'pendingHeld',
    'stated',
    'statedDifference',
    'openingStated',
  ] as const;
  expect(documented).toEqual(lines.map((line) => `${pt.summary[line]} / ${en.summary[line]}`));
});

test('docs/spreadsheet.md lists the lines about orders', () => {
  const documented = tableUnder(`### ${pt.changes.orders} (${en.changes.orders})`);
  const lines = [...SHARE_LINES, 'sum'] as const;
  const are = lines.map((line) => [pt.orders[line], en.orders[line]]);
  expect(documented.map((row) => row.slice(0, 2))).toEqual(are);
});

test('docs/sheets.md names the version of the columns', () => {
  expect(sheets).toContain(`Columns: version ${COLUMNS_VERSION}.`);
});
