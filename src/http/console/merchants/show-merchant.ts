import type { Request, Router } from 'express';
import { presentCallback } from '../../../callbacks/manage/present-callback.ts';
import { listCallbacks } from '../../../callbacks/manage/read-callbacks.ts';
import { readDelivery } from '../../../callbacks/manage/read-delivery.ts';
import type { Context } from '../../../context.ts';
import { readDisabledReason } from '../../../merchants/disabled-reasons.ts';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { findMerchant } from '../../../merchants/read-merchants.ts';
import { presentMerchantTo } from '../../../operations/mask-texts.ts';
import { enableMerchant, pauseMerchant, testMerchant } from '../../../operations/merchants/merchants.ts';
import { listWaiting } from '../../../portal/address-changes.ts';
import { t, words } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { serveButton } from '../forms/serve-button.ts';
import { formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText, say } from '../parts/page-components.ts';
import { type PlatformNames, readPlatformNames } from '../parts/read-platform-names.ts';
import { sendPage } from '../parts/send-page.ts';
import { addressForm } from './decide-address.ts';
import { callbackTable } from './list-callbacks.ts';
import { merchantBadges } from './list-merchants.ts';
import { explainWhoMayChange, merchantActions } from './merchant-actions.ts';
import { renderDelivery } from './render-delivery.ts';
import { renderFilter } from './render-filter.ts';
import { describeRequest } from './request-fields.ts';

const CALLBACKS_SHOWN = 20;
const REFRESH_S = 60;

/** The page of a merchant: what may be done, how callbacks reach it, its address and filter, its last callbacks. */
export function merchantPages(context: Context): Router {
  const router = createRouter();
  router.get('/merchants/:id', async (request: Request<{ id: string }>, response) => {
    const row = await findMerchant(context.db, request.params.id);
    const merchant = presentMerchantTo(getCaller(response), row);
    const page = { limit: CALLBACKS_SHOWN, before: undefined };
    const callbacks = await listCallbacks(context.db, { merchant: merchant.id }, page);
    const delivery = await readDelivery(context, row);
    const isAsking = (await listWaiting(context, context.db, { merchant: row.id })).length > 0;
    const body = html`<p class="crumb"><a href="/merchants">${t('Lojistas')}</a></p>
<div class="head"><h1>${merchant.name}</h1> ${merchantBadges(merchant)}</div>
<p class="sub">${idText(merchant.id)}</p>
${explainWhoMayChange(context, response, merchant)}
${merchantActions(response, merchant, { hasToken: row.pull_token_hash !== null, isAsking, delivery })}
${renderDelivery(context, merchant, delivery, {
  list: (state) => `/callbacks?merchant=${merchant.id}&state=${state}`,
  item: ({ callback }) => `/callbacks/${callback}`,
})}
<section><h2>${t('Fatos')}</h2>${renderFacts(context, merchant, await readPlatformNames(context, response))}</section>
<section><h2>${t('Últimos callbacks')}</h2>${callbackTable(context, callbacks.map(presentCallback), 'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.', { on: 'merchant' })}
<p><a href="/callbacks?merchant=${merchant.id}">${t('Todos os callbacks deste lojista')}</a></p></section>`;
    sendPage(request, response, { title: merchant.name, body, refreshS: REFRESH_S });
  });

  const toMerchant = (done: string) => (id: string) => `/merchants/${id}?done=${done}`;
  router.use([
    addressForm(context),
    serveButton(context, enableMerchant, { address: '/merchants/:id/enable', to: toMerchant('enabled') }),
    serveButton(context, pauseMerchant, { address: '/merchants/:id/pause', to: toMerchant('paused') }),
    serveButton(context, testMerchant, {
      address: '/merchants/:id/test',
      to: (_id, test) => `/callbacks/${presentCallback(test).id}?done=tested`,
    }),
  ]);
  return router;
}

function renderFacts(context: Context, merchant: PresentedMerchant, names: PlatformNames): Html {
  const { url, backfill } = merchant;
  return facts([
    // the path may hold a secret of the merchant's
    ['Endereço', renderUrl(url)],
    ['Endereço de teste', merchant.test_url && renderUrl(merchant.test_url)],
    [
      'Última busca',
      url === null ? (merchant.pulled_at ? moment(context.calendar, merchant.pulled_at) : t('nunca')) : null,
    ],
    ...describeRequest(merchant),
    ['E-mail', merchant.email],
    ['Desativado porque', merchant.disabled_reason && say(readDisabledReason(merchant.disabled_reason))],
    ['Pausado por', merchant.paused_by === 'merchant' && t('ele mesmo')],
    ['Falhando desde', merchant.failing_since && moment(context.calendar, merchant.failing_since)],
    ['Por segundo, no máximo', merchant.rate ?? t('sem limite')],
    ['Eventos desde', moment(context.calendar, merchant.events_since)],
    ['Filtro', renderFilter(merchant.filter, names)],
    ['O que o lojista escolheu receber', isSet(merchant.own_filter) && renderFilter(merchant.own_filter, names)],
    ['Eventos anteriores', backfill && describeBackfill(backfill)],
  ]);
}

function isSet(filter: PresentedMerchant['own_filter']): boolean {
  return Object.values(filter).some((list) => Object.keys(list).length > 0);
}

/** How far a backfill is. */
function describeBackfill(backfill: NonNullable<PresentedMerchant['backfill']>): string {
  return t('{state}: {callbacks} callbacks de {transactions} transações', {
    state: BACKFILL_WORDS[backfill.state],
    callbacks: formatCount(backfill.enqueued),
    transactions: formatCount(backfill.done),
  });
}

export const BACKFILL_WORDS = words({ waiting: 'na fila', running: 'enfileirando', done: 'concluído' });

/** The address of a merchant without its path, which may hold a secret. */
export function renderUrl(url: string | null): Html | string | null {
  if (url === null) return t('busca os eventos pela API');
  return URL.canParse(url) ? html`<span class="id">${new URL(url).origin}/…</span>` : null;
}
