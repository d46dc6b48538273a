import type { Request, Response, Router } from 'express';
import { auditChange } from '../../../access/audit.ts';
import { presentCallback } from '../../../callbacks/manage/present-callback.ts';
import { listCallbacks } from '../../../callbacks/manage/read-callbacks.ts';
import { sendTest } from '../../../callbacks/manage/send-test.ts';
import type { Context } from '../../../context.ts';
import { setMerchantState } from '../../../merchants/change-merchants.ts';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { findMerchant } from '../../../merchants/read-merchants.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { presentMerchantTo } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { callbackTable } from '../lists/list-callbacks.ts';
import { merchantBadges } from '../lists/list-merchants.ts';
import { formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';

const CALLBACKS_SHOWN = 20;

const FILTER_WORDS: Record<string, string> = {
  platforms: 'plataformas',
  operations: 'operações',
  statuses: 'situações',
  reference_prefixes: 'referência começa com',
  extra_prefixes: 'extra começa com',
  extra_match: 'extra contém',
};

/** The page of a merchant: its address, its filter, its last callbacks. */
export function merchantPages(context: Context): Router {
  const router = createRouter();
  router.get('/merchants/:id', async (request: Request<{ id: string }>, response) => {
    const merchant = presentMerchantTo(response, await findMerchant(context.db, request.params.id));
    const page = { limit: CALLBACKS_SHOWN, before: undefined };
    const callbacks = await listCallbacks(context.db, { merchant: merchant.id }, page);
    const body = html`<p class="crumb"><a href="/merchants">Lojistas</a></p>
<div class="head"><h1>${merchant.name}</h1> ${merchantBadges(merchant)}</div>
<p class="sub">${idText(merchant.id)}</p>
${hasRole(response, 'admin') && actions(response, merchant)}
<section><h2>Fatos</h2>${renderFacts(context, merchant)}</section>
<section><h2>Últimos callbacks</h2>${callbackTable(context, callbacks.map(presentCallback), 'Nenhum callback até agora.', 'merchant')}
<p><a href="/callbacks?merchant=${merchant.id}">Todos os callbacks deste lojista</a></p></section>`;
    sendPage(request, response, { title: merchant.name, body });
  });

  for (const [action, done, change] of [
    ['enable', 'enabled', (inner: Context, id: string) => setMerchantState(inner, id, 'enabled')],
    ['pause', 'paused', (inner: Context, id: string) => setMerchantState(inner, id, 'paused')],
    ['test', 'tested', sendTest],
  ] as const) {
    const path = `/merchants/:id/${action}`;
    router.post(path, requireRole('admin'), async (request: Request<{ id: string }>, response) => {
      const { id } = request.params;
      const audited = { actor: getActor(response), action: `merchant.${done}`, target: id, detail: 'console' };
      await auditChange<unknown>(context, (inner) => change(inner, id), audited);
      response.redirect(303, `/merchants/${id}?done=${done}`);
    });
  }
  return router;
}

function actions(response: Response, merchant: PresentedMerchant): Html {
  const address = `/merchants/${merchant.id}`;
  const isEnabled = merchant.state === 'enabled';
  const content = html`<div class="actions">${
    isEnabled
      ? html`<button class="secondary" formaction="${address}/pause">Pausar</button>`
      : html`<button formaction="${address}/enable">Ativar</button>`
  }<button class="secondary" formaction="${address}/test">Enviar um teste</button>${isEnabled && merchant.breaker === 'open' && html`<button class="secondary" formaction="${address}/enable">Fechar o disjuntor</button>`}</div>`;
  return html`<section class="act bare" aria-label="Ações">${postForm(response, `${address}/enable`, content)}</section>`;
}

function renderFacts(context: Context, merchant: PresentedMerchant): Html {
  const { url, backfill } = merchant;
  return facts([
    // the path may hold a secret of the merchant's
    ['Endereço', renderUrl(url)],
    [
      'Última busca',
      url === null ? (merchant.pulled_at ? moment(context.calendar, merchant.pulled_at) : 'nunca') : null,
    ],
    ['E-mail', merchant.email],
    ['Desativado porque', merchant.disabled_reason],
    ['Falhando desde', merchant.failing_since && moment(context.calendar, merchant.failing_since)],
    ['Por segundo, no máximo', merchant.rate ?? 'sem limite'],
    ['Eventos desde', moment(context.calendar, merchant.events_since)],
    ['Filtro', renderFilter(merchant.filter)],
    [
      'Eventos anteriores',
      backfill &&
        html`${BACKFILL_WORDS[backfill.state]}: ${formatCount(backfill.enqueued)} callbacks de ${formatCount(backfill.done)} transações`,
    ],
  ]);
}

const BACKFILL_WORDS = { waiting: 'na fila', running: 'enfileirando', done: 'concluído' };

function renderUrl(url: string | null): Html | string | null {
  if (url === null) return 'busca os eventos pela API';
  return URL.canParse(url) ? html`<span class="id">${new URL(url).origin}/…</span>` : null;
}

function renderFilter(filter: PresentedMerchant['filter']): Html {
  const set = Object.entries(filter).filter(([, value]) => Object.keys(value).length > 0);
  if (set.length === 0) return html`tudo`;
  return html`<ul class="plain">${set.map(
    ([name, value]) =>
      html`<li>${FILTER_WORDS[name] ?? name}: ${Array.isArray(value) ? value.join(', ') : JSON.stringify(value)}</li>`,
  )}</ul>`;
}
