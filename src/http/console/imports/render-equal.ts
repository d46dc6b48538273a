import type { Context } from '../../../context.ts';
import type { EqualRow } from '../../../imports/import-kind.ts';
import { t } from '../../../texts/translate.ts';
import { formatCount, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';

const ROWS_SHOWN = 200;

/** Says which rows equal what is booked, such as an adjustment that somebody entered by the form. */
export function renderEqual(
  { calendar }: Context,
  equal: readonly EqualRow[],
  nameOf: (actor: string) => Part,
): Html | undefined {
  if (equal.length === 0) return undefined;
  const shown = equal.slice(0, ROWS_SHOWN).map(({ row, note, by, at }) => {
    const values = { row, who: nameOf(by), when: moment(calendar, at) };
    return html`<li>${
      note === null
        ? tHtml('linha {row}: este saldo já foi informado ({who}, {when}).', values)
        : tHtml('linha {row}: um ajuste deste dia e valor já está lançado: {note} ({who}, {when}).', {
            ...values,
            note,
          })
    }</li>`;
  });
  const left = equal.length - shown.length;
  return html`<div class="explain bad"><ul>${shown}${left > 0 && html`<li>${t('e mais {n}', { n: formatCount(left) })}</li>`}</ul></div>`;
}

/** The box without which rows that equal what is booked are refused. */
export function allowField(equal: readonly EqualRow[]): Html | undefined {
  if (equal.length === 0) return undefined;
  const rows = equal.slice(0, ROWS_SHOWN).map(({ row }) => row);
  const list = `${rows.join(', ')}${equal.length > rows.length ? ', …' : ''}`;
  return html`<p><label><input type="checkbox" name="allow_equal" value="true" required> <span>${t('Importar também as linhas {list}: não são as que já estão lançadas.', { list })}</span></label></p>`;
}
