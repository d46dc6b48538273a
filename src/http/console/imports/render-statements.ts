import type { Context } from '../../../context.ts';
import type { BankImport, ImportedStatement } from '../../../ledger/bank/import-bank-file.ts';
import { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { plural, t } from '../../../texts/translate.ts';
import { lineTable } from '../bank/describe-bank.ts';
import { formatCount, formatDay, moneyOf } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';

/** Lines that a preview shows. */
const LINES_SHOWN_MAX = 20;

/** Renders the last new lines of an import, each with its match: they are the newest of all. */
export async function renderNewLines(
  { db }: Pick<Context, 'db'>,
  { statements }: BankImport,
): Promise<Html | undefined> {
  const count = statements.reduce((sum, one) => sum + one.new, 0);
  if (count === 0) return undefined;
  const lines = await listBankLines(db, Math.min(count, LINES_SHOWN_MAX), undefined);
  return html`<section><h2>${t('Linhas novas')}</h2>${count > lines.length && html`<p class="hint">${t('As últimas {n} de {count}.', { n: formatCount(lines.length), count: formatCount(count) })}</p>`}${lineTable(undefined, lines.reverse(), await readBankAccounts(db), 'Linhas novas')}</section>`;
}

/** Renders what a statement of the bank would change. */
export function renderStatements({ statements, matched }: BankImport): Html {
  const pairs = matched.reference + matched.amount;
  return html`<div class="explain"><p>${plural(pairs, 'Um par seria casado.', '{n} pares seriam casados.')}</p>
<ul>${statements.map((one) => html`<li>${describeStatement(one)}</li>`)}</ul></div>`;
}

function describeStatement(one: ImportedStatement): Html {
  const { balance, balance_day: day, later, later_lines: count, negated } = one;
  return html`${one.account}: ${plural(one.new, 'uma linha nova', '{n} linhas novas')}, ${plural(one.known, 'uma já conhecida', '{n} já conhecidas')}${
    balance !== null &&
    day !== null &&
    html`, ${tHtml('saldo de {day}: {amount}', { day: formatDay(day), amount: moneyOf(balance) })}`
  }${one.balance_left_out && html`, ${t('o saldo fica de fora: não é certo que seja o do fim de um dia do arquivo. Se for, informe-o na página da conta')}`}${
    negated > 0 &&
    html`, ${plural(negated, 'um débito sem sinal, tomado como saída', '{n} débitos sem sinal, tomados como saída')}`
  }${
    count > 0 &&
    html`, ${plural(count, 'uma a vir, que fica de fora', '{n} a vir, que ficam de fora')}<ul>${later.map(
      (row) =>
        html`<li>${tHtml('linha {line}, {day}, {amount}', { line: row.line, day: formatDay(row.day), amount: moneyOf(row.amount) })}</li>`,
    )}</ul>`
  }`;
}
