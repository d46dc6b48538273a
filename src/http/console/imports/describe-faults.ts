import {
  type ImportFault,
  type ImportKind,
  type LeftOutReason,
  type LeftOutRow,
  sayImportFault,
} from '../../../imports/import-kind.ts';
import { findImportKind, type ImportKindName } from '../../../imports/import-kinds.ts';
import { language } from '../../../texts/language.ts';
import { describe } from '../../../texts/refuse.ts';
import { type PlainText, t, words } from '../../../texts/translate.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';

/** What a change refused, by the field that it names. */
const REFUSALS = new Map<string, PlainText>([
  ['platform', 'Nenhuma transação mostra esta plataforma.'],
  ['day', 'Este dia não pode ser: ainda não começou, ou os livros da plataforma abrem depois dele.'],
  ['at', 'Este instante não pode ser: ainda não passou, ou é de antes do PIX.'],
  ['name', 'Este nome não pode ser: até 60 caracteres numa linha, sem documento, telefone ou e-mail.'],
  ['conflict', 'Outra plataforma já tem este nome.'],
]);

/** `linha 3, valor: …` in the language of the request. */
export function describeFault(fault: ImportFault, { columns }: Pick<ImportKind, 'columns'>): string {
  const { row, column, line } = fault;
  const text = say(fault);
  if (row === 0) return line === undefined ? text : t('linha {line}: {text}', { line, text });
  const title = column === null ? undefined : (columns[column]?.titles[language()] ?? column);
  return title === undefined
    ? t('linha {row}: {text}', { row, text })
    : t('linha {row}, {column}: {text}', { row, column: title, text });
}

function say(fault: ImportFault): string {
  if (fault.reason) return describe(fault.reason, {}, language());
  const refused = fault.kind === 'refused' ? REFUSALS.get(fault.field ?? '') : undefined;
  return refused === undefined ? sayImportFault(fault, language()) : t(refused);
}

const LEFT_OUT = words<LeftOutReason>({ above_header: 'acima do cabeçalho', total: 'o total', note: 'uma nota' });

/** `1 (acima do cabeçalho), 7 (o total)`; empty if there is none. */
export function describeLeftOut(rows: readonly LeftOutRow[]): string {
  return rows.map(({ row, why }) => `${row} (${LEFT_OUT[why]})`).join(', ');
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
