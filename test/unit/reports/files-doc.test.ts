import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CHART_ACCOUNTS } from '../../../src/ledger/stated/check-accounts.ts';
import { FILE_FORMATS } from '../../../src/reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../../../src/reports/render/formats/formats.ts';
import { CALIMA, CONTA_AZUL, GENERIC } from '../../../src/reports/render/formats/layouts.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/files.md'), 'utf8');

/** The cells of the table under a heading. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = `\n${page}`.split(`\n${heading}\n`);
  return (section.split(/\n#/)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('docs/files.md lists each format but the workbook, with its address', () => {
  const documented = tableUnder('# Files for other programs').map((row) => row.slice(0, 2));
  const are = FILE_FORMATS.slice(1).map((format) => [`\`${format}\``, `\`….${FORMAT_FACTS[format].extension}\``]);
  expect(documented).toEqual(are);
});

test.each([
  ['### Generic (`lancamentos`)', GENERIC],
  ['### Conta Azul (`conta-azul`)', CONTA_AZUL],
  ['### Calima (`calima`)', CALIMA],
] as const)('docs/files.md lists the columns of %s in their order', (heading, layout) => {
  expect(tableUnder(heading).flatMap(([names = '']) => names.split(', '))).toEqual(layout.header);
});

test('docs/files.md lists the accounts of the ledger', () => {
  for (const account of CHART_ACCOUNTS) expect(page).toContain(`\`${account}\``);
});
