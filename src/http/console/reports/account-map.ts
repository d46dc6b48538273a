import type { Response, Router } from 'express';
import { auditChange } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import {
  describeMapChange,
  findAccountFaults,
  listUnmappedAccounts,
  readAccountMap,
  setAccountMap,
} from '../../../ledger/stated/account-map.ts';
import type { AccountFault } from '../../../ledger/stated/check-accounts.ts';
import { parseAccountMap, renderAccountMap } from '../../../ledger/stated/parse-account-map.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { t } from '../languages/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { idText, table } from '../parts/page-components.ts';
import { readFormLines } from '../parts/parse-filters.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';

const ADDRESS = '/reports/accounts';
const ROLE = 'accountant';
const ROWS_SHOWN = 16;

/** What was sent, and what is wrong with it. */
type Draft = { text: string; faults: string[] };

/** The map of our accounts to the customer's chart of accounts: the table, and the form that replaces it. */
export function accountMapPages(context: Context): Router {
  const router = createRouter();
  router.get(ADDRESS, async (request, response) => {
    sendPage(request, response, { title: t('Plano de contas'), body: await render(context, response) });
  });

  router.post(ADDRESS, requireRole(ROLE), async (request, response) => {
    const text = readFormLines(request, 'map');
    const given = parseAccountMap(text);
    const faults = await findAccountFaults(context.db, given);
    if (faults.length > 0) {
      const lines = faults.map(
        (fault) => `${nameField(given.nameField(fault.row, fault.field))}: ${describeAccountFault(fault)}`,
      );
      const body = await render(context, response, { text, faults: lines });
      sendPage(request, response, { title: t('Plano de contas'), status: 422, body });
      return;
    }
    const actor = getActor(response);
    await auditChange(
      context,
      (inner) => setAccountMap(inner, { ...given, actor }),
      (result) => ({ actor, ...describeMapChange(result) }),
    );
    response.redirect(303, `${ADDRESS}?done=mapped`);
  });
  return router;
}

/** `line 4, código` in the language of the request. */
function nameField(name: string): string {
  return name.replace(/^line/, t('linha'));
}

/** A fault in the language of the request. */
export function describeAccountFault({ kind, value = '' }: AccountFault): string {
  switch (kind) {
    case 'header':
      return t('o cabeçalho é {value}', { value });
    case 'fields':
      return t('tem {value} campos, e o cabeçalho outro número', { value });
    case 'no_rows':
      return t('o plano não tem linhas');
    case 'too_many_rows':
      return t('no máximo {value} linhas', { value });
    case 'unknown_account':
      return t('não é conta do razão; as contas são {value}', { value });
    case 'repeated':
      return t('a mesma conta e plataforma estão numa linha anterior');
    case 'unknown_platform':
      return t('nada se sabe da plataforma {value}', { value });
    case 'empty':
      return t('escreva um código ou uma categoria');
    case 'too_long':
      return t('no máximo {value} caracteres', { value });
    case 'no_number':
      return t('escreva um número');
    case 'no_line':
      return t('escreva uma só linha, que comece com letra ou algarismo');
  }
}

async function render(context: Context, response: Response, draft?: Draft): Promise<Html> {
  const { accounts } = await readAccountMap(context.db);
  const unmapped = await listUnmappedAccounts(context.db, accounts);
  return html`<p class="crumb"><a href="/reports">${t('Relatórios')}</a></p><h1>${t('Plano de contas')}</h1>
<p class="lead">${t('As contas da empresa que os lançamentos contábeis usam no lugar das contas do razão.')}</p>
${unmapped.length > 0 && html`<p class="hint">${t('Contas com movimento e sem linha: {accounts}.', { accounts: unmapped.join(', ') })}</p>`}
${hasRole(response, ROLE) && mapForm(response, draft ?? { text: renderAccountMap(accounts), faults: [] })}
${table({
  caption: 'Contas mapeadas',
  rows: accounts.map((row) => presentPlatform(response, row)),
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
<div class="actions"><button>${t('Guardar')}</button></div>`,
  )}</section>`;
}
