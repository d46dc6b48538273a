import { findImportKind, type ImportKindName } from '../../../imports/import-kinds.ts';
import { TEMPLATE_FORMATS } from '../../../imports/render-template.ts';
import { language } from '../../../texts/language.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { type Html, html } from '../parts/html.ts';
import { buttonLink, table } from '../parts/page-components.ts';

/** The templates of kinds, with their columns. */
export function renderTemplates(kinds: ImportKindName[]): Html {
  return table({
    caption: 'Modelos',
    rows: kinds.flatMap((name) => {
      const { columns, titles } = findImportKind(name);
      const all = Object.values(columns);
      return all.length === 0 ? [] : [{ name, columns: all, title: titles[language()] }];
    }),
    empty: 'Não há modelos.',
    columns: [
      { title: 'Tipo', cell: (row) => html`<b>${row.title}</b>` },
      { title: 'Colunas', cell: (row) => row.columns.map(({ titles }) => titles[language()]).join(', ') },
      {
        title: 'Baixar',
        cell: (row) =>
          html`${TEMPLATE_FORMATS.map((format) => html`${buttonLink(`${IMPORT_ADDRESS}/${row.name}/template.${format}`, format.toUpperCase())} `)}`,
      },
    ],
  });
}
