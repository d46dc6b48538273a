import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { listOpenBankEntries } from '../../../ledger/bank/list-bank-matches.ts';
import { summarizeBank } from '../../../ledger/bank/summarize-bank.ts';
import { bankEntries, maskBankLine, matchBank } from '../../../operations/books/bank.ts';
import type { MadeOf } from '../../../operations/define-change.ts';
import { withhold } from '../../../operations/define-list.ts';
import { t } from '../../../texts/translate.ts';
import { auditPersonalAccess, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { BANK, balanceTabs } from '../balances/describe-stated.ts';
import { serveButton } from '../forms/serve-button.ts';
import { html } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { NEW_ACCOUNT } from './account-form.ts';
import { BANK_LISTS, describeOpen, entryTable, lineTable, sayAgreement } from './describe-bank.ts';
import { addressOfAccount, renderSums } from './render-sums.ts';
import { sendBank } from './send-bank.ts';

/** Rows of each side on the page; the list of lines has all. */
const ROWS_SHOWN = 20;

/** The page of the company's bank account: its balance beside the ledger's, and what is open on both sides. */
export function bankPage(context: Context): Router {
  const router = createRouter();
  router.get(BANK.address, async (request, response) => {
    await send(context, request, response);
  });

  const to = (_id: string, { reference, amount, not_pix }: MadeOf<typeof matchBank>): string =>
    `${BANK.address}?done=${reference + amount + not_pix > 0 ? 'bank_searched' : 'bank_searched_none'}`;
  const button = { address: `${BANK.address}/match`, to };
  router.use(serveButton(context, matchBank, button));
  return router;
}

async function send(context: Context, request: Request, response: Response): Promise<void> {
  const db = limitStatementTime(context.db);
  const summary = await summarizeBank(db);
  if (request.query.format === 'xlsx') return await sendBank(context, response, summary);
  const lines = await listBankLines(db, ROWS_SHOWN, undefined, { state: 'open' });
  const entries = await listOpenBankEntries(db, ROWS_SHOWN, undefined);
  await auditPersonalAccess(context, response, 'bank.lines', 'texts');
  const [caller, mayMatch] = [getCaller(response), hasRole(response, ...matchBank.roles)];
  const [shownLines, shownEntries] = [
    lines.map((row) => maskBankLine(caller, row)),
    entries.map((row) => withhold(bankEntries, row, caller)),
  ];
  const names = await readPlatformNames(context, response);
  const accounts = new Map(summary.accounts.map((one) => [one.account, one]));
  const { said, isSettled } = sayAgreement(summary);
  const body = html`<h1>${t('Banco')}</h1>${balanceTabs(response, BANK.address)}
<p class="lead">${t('O extrato da conta da empresa no banco, linha por linha, ao lado dos ajustes do tipo banco e dos saques por PIX. Um par não muda o razão: ele diz o que está fechado.')}</p>
${mayMatch && html`<div class="actions">${buttonLink(`${IMPORT_ADDRESS}?kind=bank`, t('Importar um extrato'))} ${buttonLink(addressOfAccount(NEW_ACCOUNT), t('Outra conta'))}</div>`}
<section><h2>${t('O banco e o razão')}</h2><p class="explain${!isSettled && ' open'}">${said}</p>${renderSums(response, summary, accounts)}<p class="hint">${t('Baixar')}: <span class="files"><a href="${`${BANK.address}?format=xlsx`}" download>${t('Planilha')}</a></span></p></section>
<section><h2>${t('Linhas do extrato em aberto')}</h2><p class="hint">${describeOpen(summary.openLines)}</p>
${lineTable(response, shownLines, accounts, 'Linhas do extrato sem lançamento')}
<p><a href="${BANK_LISTS.lines.address}?state=open">${t('Todas as linhas em aberto')}</a> · <a href="${BANK_LISTS.lines.address}?state=matched">${t('Linhas casadas')}</a> · <a href="${BANK_LISTS.lines.address}?state=not_pix">${t('Linhas que não são do PIX')}</a> · <a href="${BANK_LISTS.matches.address}">${t('Pares')}</a></p></section>
<section><h2>${t('Lançamentos do banco em aberto')}</h2><p class="hint">${describeOpen(summary.openEntries)}</p>
${entryTable(shownEntries, names, accounts)}
${mayMatch && postForm(response, `${BANK.address}/match`, html`<div class="actions"><button class="secondary">${t('Procurar pares de novo')}</button></div>`)}</section>`;
  sendPage(request, response, { title: t('Banco'), body });
}
