import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { importFile } from '../../../imports/import-file.ts';
import { ImportRefusedError } from '../../../imports/import-kind.ts';
import { ACCOUNTS, renderAccountMap } from '../../../imports/kinds/accounts.ts';
import { accounts, mapAccounts } from '../../../operations/books/accounts.ts';
import { t } from '../../../texts/translate.ts';
import { getActor, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { type Html, html } from '../parts/html.ts';
import { idText, table } from '../parts/page-components.ts';
import { readFormLines } from '../parts/parse-filters.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { describeFault } from './describe-faults.ts';

const ADDRESS = '/reports/accounts';
const ROWS_SHOWN = 16;

/** The text that was sent, and its faults. */
type Draft = { text: string; faults: string[] };

/** The map of our accounts to the customer's chart of accounts: the table, and the form that replaces it. */
export function accountMapPages(context: Context): Router {
  const router = createRouter();
  router.get(ADDRESS, async (request, response) => {
    sendPage(request, response, { title: t('Plano de contas'), body: await render(context, response) });
  });

  router.post(ADDRESS, requireRole(...mapAccounts.roles), async (request, response) => {
    const text = readFormLines(request, 'map');
    try {
      const file = { kind: 'accounts', bytes: Buffer.from(text) } as const;
      await importFile(context, file, { actor: getActor(response), allowEqual: false });
    } catch (error) {
      if (!(error instanceof ImportRefusedError)) throw error;
      const faults = error.faults.map((fault) => describeFault(fault, ACCOUNTS));
      const body = await render(context, response, { text, faults });
      sendPage(request, response, { title: t('Plano de contas'), status: 422, body });
      return;
    }
    response.redirect(303, `${ADDRESS}?done=mapped`);
  });
  return router;
}

async function render(context: Context, response: Response, draft?: Draft): Promise<Html> {
  const { accounts: rows, unmapped } = await accounts.read(context, { caller: getCaller(response), id: '' });
  return html`<p class="crumb"><a href="/reports">${t('Relatórios')}</a></p><h1>${t('Plano de contas')}</h1>
<p class="lead">${t('As contas da empresa que os lançamentos contábeis usam no lugar das contas do razão.')}</p>
${unmapped.length > 0 && html`<p class="hint">${t('Contas com movimento e sem linha: {accounts}.', { accounts: unmapped.join(', ') })}</p>`}
${hasRole(response, ...mapAccounts.roles) && mapForm(response, draft ?? { text: renderAccountMap(rows), faults: [] })}
${table({
  caption: 'Contas mapeadas',
  rows,
  empty: 'Nenhuma conta está mapeada até agora.',
  columns: [
    { title: 'Conta do razão', cell: (row) => row.account },
    { title: 'Plataforma', cell: (row) => (row.platform === null ? t('todas') : idText(row.platform)) },
    { title: 'Código', cell: (row) => row.code },
    { title: 'Categoria', cell: (row) => row.category },
    { title: 'Centro de custo', cell: (row) => row.cost_center },
    { title: 'Histórico', cell: (row) => row.history },
  ],
})}`;
}

function mapForm(response: Response, { text, faults }: Draft): Html {
  const wrong = faults.length > 0 && html` aria-invalid="true" aria-describedby="map-faults"`;
  return html`<section class="act"><h2>${t('Trocar o plano')}</h2>${postForm(
    response,
    ADDRESS,
    html`<label><span>${t('Uma linha por conta, com ponto e vírgula entre os campos')}</span>
<textarea name="map" rows="${ROWS_SHOWN}" spellcheck="false"${wrong}>${text}</textarea></label>
<p class="hint">${t('Uma linha com plataforma vale só para ela. Linhas só com a conta são ignoradas.')}</p>
${faults.length > 0 && html`<ul class="fault" id="map-faults" role="alert">${faults.map((fault) => html`<li>${fault}</li>`)}</ul>`}
<div class="actions"><button>${t('Salvar')}</button></div>`,
  )}</section>`;
}
