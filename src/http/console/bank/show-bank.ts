import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { listOpenBankEntries } from '../../../ledger/bank/list-bank-matches.ts';
import { type BankAccount, type BankSummary, type Sum, summarizeBank } from '../../../ledger/bank/summarize-bank.ts';
import { bankEntries, maskBankLine, matchBank, stateBankAccount } from '../../../operations/books/bank.ts';
import { withhold } from '../../../operations/define-list.ts';
import { t } from '../../../texts/translate.ts';
import { auditPersonalAccess, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { BANK, balanceTabs } from '../balances/describe-stated.ts';
import { serveButton } from '../forms/serve-button.ts';
import { EMPTY_VALUE, formatCount, formatDay, formatMoney, money } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { buttonLink, facts, table } from '../parts/page-components.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { NEW_ACCOUNT } from './account-form.ts';
import {
  BANK_LISTS,
  describeOpen,
  entryTable,
  lineTable,
  sayAgreement,
  showAccount,
  sumPart,
} from './describe-bank.ts';

/** Rows of each side on the page; the list of lines has all. */
const ROWS_SHOWN = 20;

/** The page of the company's bank account: its balance beside the ledger's, and what is open on both sides. */
export function bankPage(context: Context): Router {
  const router = createRouter();
  router.get(BANK.address, async (request, response) => {
    await send(context, request, response);
  });

  const button = { address: `${BANK.address}/match`, to: `${BANK.address}?done=bank_matched` };
  router.use(serveButton(context, matchBank, button));
  return router;
}

async function send(context: Context, request: Request, response: Response): Promise<void> {
  const db = limitStatementTime(context.db);
  const summary = await summarizeBank(db);
  const lines = await listBankLines(db, ROWS_SHOWN, undefined, { state: 'open' });
  const entries = await listOpenBankEntries(db, ROWS_SHOWN, undefined);
  await auditPersonalAccess(context, response, 'bank.lines', 'texts', 'console');
  const [caller, mayMatch] = [getCaller(response), hasRole(response, ...matchBank.roles)];
  const [shownLines, shownEntries] = [
    lines.map((row) => maskBankLine(caller, row)),
    entries.map((row) => withhold(bankEntries, row, caller)),
  ];
  const names = await readPlatformNames(context, response);
  const accounts = new Map(summary.accounts.map((one) => [one.account, one]));
  const body = html`<h1>${t('Banco')}</h1>${balanceTabs(response, BANK.address)}
<p class="lead">${t('O extrato da conta da empresa no banco, linha por linha, ao lado dos ajustes do tipo banco e dos saques por PIX. Um par não muda o razão: ele diz o que está fechado.')}</p>
${mayMatch && html`<div class="actions">${buttonLink(`${IMPORT_ADDRESS}?kind=bank`, t('Importar um extrato'))} ${buttonLink(addressOfAccount(NEW_ACCOUNT), t('Outra conta'))}</div>`}
<section><h2>${t('Contas no banco')}</h2>${accountTable(response, summary.accounts)}</section>
<section><h2>${t('O banco e o razão')}</h2>${renderComparison(summary)}</section>
<section><h2>${t('Linhas do extrato em aberto')}</h2><p class="hint">${describeOpen(summary.openLines)}</p>
${lineTable(response, shownLines, accounts, 'Linhas do extrato sem lançamento')}
<p><a href="${BANK_LISTS.lines.address}?state=open">${t('Todas as linhas em aberto')}</a> · <a href="${BANK_LISTS.lines.address}?state=matched">${t('Linhas casadas')}</a> · <a href="${BANK_LISTS.lines.address}?state=not_pix">${t('Linhas que não são do PIX')}</a> · <a href="${BANK_LISTS.matches.address}">${t('Pares')}</a></p></section>
<section><h2>${t('Lançamentos do banco em aberto')}</h2><p class="hint">${describeOpen(summary.openEntries)}</p>
${entryTable(shownEntries, names, accounts)}
${mayMatch && postForm(response, `${BANK.address}/match`, html`<div class="actions"><button class="secondary">${t('Procurar pares de novo')}</button></div>`)}</section>`;
  sendPage(request, response, { title: t('Banco'), body });
}

function accountTable(response: Response, accounts: BankAccount[]): Html {
  const mayState = hasRole(response, ...stateBankAccount.roles);
  const names = new Map(accounts.map((one) => [one.account, one]));
  const figure = (one: BankAccount, sum: Sum, state: string): Html =>
    html`${money(sum.cents)}<br><a class="hint" href="${BANK_LISTS.lines.address}?${new URLSearchParams({ account: one.account, state }).toString()}">${formatCount(sum.count)}</a>`;
  return table({
    caption: 'Contas no banco',
    rows: accounts,
    empty: 'Nenhum extrato foi importado até agora.',
    columns: [
      {
        title: 'Conta',
        cell: (row) =>
          mayState
            ? html`<a href="${addressOfAccount(row.account)}">${showAccount(names, row.account)}</a>`
            : showAccount(names, row.account),
      },
      { title: 'Veio do provedor', cell: (row) => sumPart(row.received), align: 'end' },
      { title: 'Casadas', cell: (row) => figure(row, addSums(row.matched, row.withdrawals), 'matched'), align: 'end' },
      { title: 'Em aberto', cell: (row) => figure(row, row.openLines, 'open'), align: 'end' },
      { title: 'Não é do PIX', cell: (row) => figure(row, row.notPix, 'not_pix'), align: 'end' },
      { title: 'Linhas', cell: linesCell, align: 'end' },
      { title: 'Saldo no banco', cell: balanceCell, align: 'end' },
      { title: 'Lacunas', cell: gapCell },
    ],
  });
}

function addressOfAccount(account: string): string {
  return `${BANK.address}/accounts/${encodeURIComponent(account)}`;
}

function addSums(one: Sum, other: Sum): Sum {
  return { count: one.count + other.count, cents: one.cents + other.cents };
}

function linesCell({ lines, firstDay, lastDay }: BankAccount): Part {
  if (firstDay === null || lastDay === null) return EMPTY_VALUE;
  return html`${money(lines.cents)}<br><span class="hint">${t('De {from} a {to}', { from: formatDay(firstDay), to: formatDay(lastDay) })}</span>`;
}

function balanceCell({ balance }: BankAccount): Part {
  if (balance === null) return html`<span class="hint">${t('o arquivo não traz o saldo')}</span>`;
  return html`${money(balance.cents)}<br><span class="hint">${t('em {day}', { day: formatDay(balance.day) })}</span>`;
}

function gapCell({ gaps }: BankAccount): Part {
  if (gaps.length === 0) return t('nenhuma');
  return gaps.map(
    ({ from, to, cents }) =>
      html`${t('entre {from} e {to} faltam linhas que somam {sum}', { from: formatDay(from), to: formatDay(to), sum: formatMoney(cents) })}<br>`,
  );
}

/** Explains the difference between the bank's balance and the ledger's, to the cent. */
function renderComparison(summary: BankSummary): Html {
  const { bankCents, ledgerCents } = summary;
  const unknown = html`<span class="hint">${t('o arquivo não traz o saldo')}</span>`;
  return html`${facts([
    ['Saldo no banco', bankCents === null ? unknown : money(bankCents)],
    ['Conta no banco, no razão', money(ledgerCents)],
    ['Diferença', bankCents === null ? unknown : money(bankCents - ledgerCents)],
    ['Saldo antes da primeira linha', money(summary.beforeCents)],
    ['Mais saques por PIX casados', sumPart(summary.withdrawals)],
    ['Mais linhas em aberto', sumPart(summary.openLines)],
    ['Mais linhas que não são do PIX', sumPart(summary.notPix)],
    ['Menos lançamentos em aberto', sumPart(summary.openEntries)],
    ['Menos linhas depois do saldo', money(summary.afterCents)],
    ['Casado com ajustes', sumPart(summary.matched)],
  ])}<p class="explain">${sayAgreement(summary)}</p>`;
}
