import type { CsvPart } from '../../../ledger/stated/check-bank-csv.ts';
import type { SheetRow } from '../../../spreadsheet/row.ts';
import { untranslated, words } from '../../../texts/translate.ts';
import { choiceField, type Draft } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';

/** The first rows of a file, and which of them is its header. */
export type Head = { rows: SheetRow[]; header: SheetRow; titles: string[] };

const PART_WORDS = words<CsvPart>({
  ...{ day: 'dia', amount: 'valor', in: 'entrou', out: 'saiu', side: 'D ou C', text: 'texto' },
  ...{ number: 'número do documento', identifier: 'identificador', balance: 'saldo' },
});

/** Each column of the file with its meaning, its title and what its first rows have. */
export function columnTable(draft: Draft, { rows, header, titles }: Head): Html {
  const below = rows.filter(({ number }) => number > header.number).slice(0, 3);
  return table({
    caption: 'Colunas do CSV do banco',
    rows: titles.map((title, index) => ({ title, index })),
    empty: 'Nenhuma linha.',
    columns: [
      {
        title: 'Coluna',
        cell: ({ title, index }) =>
          choiceField(draft, {
            ...{
              name: `part_${index}`,
              label: untranslated(title || String(index + 1)),
              words: PART_WORDS,
              any: 'não é lida',
            },
          }),
      },
      {
        title: 'Nas primeiras linhas',
        cell: ({ index }) =>
          html`<span class="long">${below
            .map(({ cells }) => cells[index]?.text ?? '')
            .filter(Boolean)
            .join(' · ')}</span>`,
      },
    ],
  });
}
