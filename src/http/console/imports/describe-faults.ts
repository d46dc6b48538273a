import type { ImportFault, ImportKind, LeftOutReason, LeftOutRow } from '../../../imports/import-kind.ts';
import { findImportKind, type ImportKindName } from '../../../imports/import-kinds.ts';
import { language } from '../../../texts/language.ts';
import { type PlainText, t, words } from '../../../texts/translate.ts';
import { translateMessage } from '../../../texts/translate-message.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { describeAccountFault } from './describe-account-fault.ts';
import { describeOfxFault } from './describe-ofx-fault.ts';
import { describeStatementFault } from './describe-statement-fault.ts';

/** What a change refused, by the field that it names. */
const REFUSALS = new Map<string, PlainText>([
  ['platform', 'Nenhuma transação mostra esta plataforma.'],
  ['day', 'Este dia não pode ser: ainda não começou, ou os livros da plataforma abrem depois dele.'],
  ['at', 'Este instante não pode ser: ainda não passou, ou é de antes do PIX.'],
  ['name', 'Este nome não pode ser: até 60 caracteres numa linha, sem documento, telefone ou e-mail.'],
  ['conflict', 'Outra plataforma já tem este nome.'],
  ['bank_day', 'Este dia ainda não começou.'],
  ['bank_identifier', 'Outra linha da conta já tem este identificador.'],
  ['bank_balance', 'Uma linha anterior deste dia tem outro saldo.'],
]);

type OwnFault = Exclude<ImportFault['kind'], 'refused' | 'ofx' | 'statement'>;
const FAULTS: Record<OwnFault, (value: string | number) => string> = {
  unreadable: (value) => t('o arquivo não pôde ser lido: {value}', { value: translateMessage(String(value)) ?? value }),
  header: (value) => t('o cabeçalho é {value}', { value }),
  no_rows: () => t('o arquivo não tem linhas'),
  too_many_rows: (value) => t('no máximo {value} linhas', { value }),
  missing: () => t('falta o valor'),
  too_long: (value) => t('no máximo {value} caracteres', { value }),
  not_money: () => t('escreva um valor como 1.234,56, com até duas casas'),
  zero: () => t('zero não muda nada'),
  not_account: () => t('escreva banco, agência e conta com / entre eles, como 341/1234/56789-0'),
  balance_row: () => t('é uma linha de saldo: tire-a'),
  not_day: () => t('escreva um dia como 20/11/2026'),
  not_moment: () => t('escreva um dia e uma hora como 20/11/2026 18:00; meia-noite, numa célula formatada como texto'),
  not_choice: (value) => t('escreva um destes: {value}', { value }),
  split_amount: () => t('pode continuar no campo seguinte: escreva "10,50" entre aspas, ou 10.50'),
  stray_quotes: () => t('tem separadores e um fim de linha: aspas soltas podem abranger linhas'),
  month_first: () =>
    t('pode ser mês/dia: assim as linhas distam dias, e como dia/mês distam meses; escreva 2026-11-20'),
  not_text: () => t('é um número com casas, ou de mais de 15 algarismos: formate a célula como texto e digite de novo'),
  is_scientific: () =>
    t('é um número em notação científica, que perdeu algarismos: formate a coluna como texto e digite de novo'),
  sign_twice: () => t('tem um sinal, e D/C também diz o sentido: escreva-o sem sinal'),
  above_header: () => t('está acima do cabeçalho: leve-a para baixo dele, ou tire-a'),
  total_row: () => t('é um total entre linhas: tire-a'),
  total_differs: (value) => t('é o total, e as linhas somam {value}: junte as linhas que faltam, ou tire-a', { value }),
  is_date: () => t('é uma data da planilha: formate a célula como texto e digite de novo'),
  hidden_row: () => t('está oculta: mostre-a, ou tire-a'),
  formula: () => t('tem uma fórmula: cole o valor'),
  merged: (value) => t('é de células mescladas ({value}): separe-as', { value }),
  other_cell: () => t('tem um erro, ou um valor de outro tipo'),
  extra_cell: () => t('tem mais campos que o cabeçalho'),
  booked: (value) => t('é igual a {value}, que já está lançado: marque que é outro para importá-lo', { value }),
};

/** `linha 3, valor: …` in the language of the request. */
export function describeFault(fault: ImportFault, { columns }: Pick<ImportKind, 'columns'>): string {
  const { row, column } = fault;
  if (fault.ofx) return describeOfxFault(fault.ofx);
  if (fault.statement && row === 0)
    return t('linha {line}: {fault}', { line: fault.statement.line, fault: describeStatementFault(fault.statement) });
  const text = fault.statement ? describeStatementFault(fault.statement) : say(fault);
  if (row === 0) return text;
  const title = column === null ? undefined : (columns[column]?.titles[language()] ?? column);
  return title === undefined
    ? t('linha {row}: {text}', { row, text })
    : t('linha {row}, {column}: {text}', { row, column: title, text });
}

function say({ kind, value = '', field = '', account }: ImportFault): string {
  if (kind !== 'refused' && kind !== 'ofx' && kind !== 'statement') return FAULTS[kind](value);
  return account ? describeAccountFault(account) : sayRefusal(String(value), field);
}

const LEFT_OUT = words<LeftOutReason>({ above_header: 'acima do cabeçalho', total: 'o total', note: 'uma nota' });

/** `1 (acima do cabeçalho), 7 (o total)`; empty if there is none. */
export function describeLeftOut(rows: readonly LeftOutRow[]): string {
  return rows.map(({ row, why }) => `${row} (${LEFT_OUT[why]})`).join(', ');
}

function sayRefusal(message: string, field: string): string {
  const text = REFUSALS.get(field);
  return text === undefined ? message : t(text);
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
