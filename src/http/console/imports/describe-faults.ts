import type { ImportFault, ImportKind, LeftOutReason, LeftOutRow } from '../../../imports/import-kind.ts';
import { findImportKind, type ImportKindName } from '../../../imports/import-kinds.ts';
import { language } from '../languages/language.ts';
import { type PlainText, t, words } from '../languages/translate.ts';
import { translateMessage } from '../languages/translate-message.ts';
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
  switch (kind) {
    case 'unreadable':
      return t('o arquivo não pôde ser lido: {value}', { value: translateMessage(String(value)) ?? value });
    case 'header':
      return t('o cabeçalho é {value}', { value });
    case 'no_rows':
      return t('o arquivo não tem linhas');
    case 'too_many_rows':
      return t('no máximo {value} linhas', { value });
    case 'missing':
      return t('falta o valor');
    case 'too_long':
      return t('no máximo {value} caracteres', { value });
    case 'not_money':
      return t('escreva um valor como 1.234,56, com até duas casas');
    case 'zero':
      return t('zero não muda nada');
    case 'not_account':
      return t('escreva banco, agência e conta com / entre eles, como 341/1234/56789-0');
    case 'balance_row':
      return t('é uma linha de saldo: tire-a');
    case 'not_day':
      return t('escreva um dia como 20/11/2026');
    case 'not_moment':
      return t('escreva um dia e uma hora como 20/11/2026 18:00; meia-noite, numa célula formatada como texto');
    case 'not_choice':
      return t('escreva um destes: {value}', { value });
    case 'split_amount':
      return t('pode continuar no campo seguinte: escreva "10,50" entre aspas, ou 10.50');
    case 'month_first':
      return t('pode ser mês/dia: assim as linhas distam dias, e como dia/mês distam meses; escreva 2026-11-20');
    case 'not_text':
      return t('é um número com casas, ou de mais de 15 algarismos: formate a célula como texto e digite de novo');
    case 'is_scientific':
      return t(
        'é um número em notação científica, que perdeu algarismos: formate a coluna como texto e digite de novo',
      );
    case 'sign_twice':
      return t('tem um sinal, e D/C também diz o sentido: escreva-o sem sinal');
    case 'above_header':
      return t('está acima do cabeçalho: leve-a para baixo dele, ou tire-a');
    case 'total_row':
      return t('é um total entre linhas: tire-a');
    case 'total_differs':
      return t('é o total, e as linhas somam {value}: junte as linhas que faltam, ou tire-a', { value });
    case 'is_date':
      return t('é uma data da planilha: formate a célula como texto e digite de novo');
    case 'formula':
      return t('tem uma fórmula: cole o valor');
    case 'merged':
      return t('é de células mescladas ({value}): separe-as', { value });
    case 'other_cell':
      return t('tem um erro, ou um valor de outro tipo');
    case 'extra_cell':
      return t('tem mais campos que o cabeçalho');
    case 'booked':
      return t('é igual a {value}, que já está lançado: marque que é outro para importá-lo', { value });
    case 'refused':
    case 'ofx':
    case 'statement':
      return account ? describeAccountFault(account) : sayRefusal(String(value), field);
  }
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
