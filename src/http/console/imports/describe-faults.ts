import {
  type ImportFault,
  type ImportKind,
  type LeftOutReason,
  type LeftOutRow,
  sayImportFault,
} from '../../../imports/import-kind.ts';
import { findImportKind, type ImportKindName } from '../../../imports/import-kinds.ts';
import { language } from '../../../texts/language.ts';
import { sayFaults, sayRefusal } from '../../../texts/say-refusal.ts';
import { t, words } from '../../../texts/translate.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';

/** `linha 3, valor: …` in the language of the request. */
export function describeFault(fault: ImportFault, { columns }: Pick<ImportKind, 'columns'>): string {
  const { row, column, line, file } = fault;
  const text = say(fault);
  if (file !== undefined) return t('{name}: {text}', { name: file, text });
  if (row === 0) return line === undefined ? text : t('linha {line}: {text}', { line, text });
  const title = column === null ? undefined : (columns[column]?.titles[language()] ?? column);
  return title === undefined
    ? t('linha {row}: {text}', { row, text })
    : t('linha {row}, {column}: {text}', { row, column: title, text });
}

function say(fault: ImportFault): string {
  const { error } = fault;
  const refusal =
    error &&
    (sayRefusal(error) ??
      sayFaults(error)
        .map(({ text }) => text)
        .join(' '));
  return refusal || sayImportFault(fault, language());
}

const LEFT_OUT = words<LeftOutReason>({
  ...{ above_header: 'acima do cabeçalho', total: 'o total', note: 'uma nota', no_xml: 'não é XML' },
  ...{ other_model: 'outro modelo de documento', incoming: 'nota de entrada', return: 'nota de devolução' },
  ...{
    not_pix: 'sem pagamento por PIX',
    other_event: 'outro evento',
    unknown_invoice: 'cancela uma nota que não temos',
  },
});

/** `1 (acima do cabeçalho), 7 (o total)`; empty if there is none. */
export function describeLeftOut(rows: readonly LeftOutRow[]): string {
  const shown = rows.slice(0, FAULTS_SHOWN).map(({ row, file, why }) => `${file ?? row} (${LEFT_OUT[why]})`);
  const left = rows.length - shown.length;
  return [...shown, ...(left > 0 ? [t('e mais {n}', { n: formatCount(left) })] : [])].join(', ');
}

/** Faults, or equal rows, that a page lists. */
export const FAULTS_SHOWN = 200;

export function renderFaults(kind: ImportKindName, faults: readonly ImportFault[]): Html {
  const shown = faults.slice(0, FAULTS_SHOWN).map((fault) => describeFault(fault, findImportKind(kind)));
  const left = faults.length - shown.length;
  return html`<ul class="fault" role="alert">${shown.map((text) => html`<li>${text}</li>`)}${
    left > 0 && html`<li>${t('e mais {n}', { n: formatCount(left) })}</li>`
  }</ul>`;
}
