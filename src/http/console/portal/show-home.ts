import type { Response, Router } from 'express';
import type { Delivery } from '../../../callbacks/manage/read-delivery.ts';
import { DISABLED, readDisabledReason } from '../../../merchants/disabled-reasons.ts';
import { presentMerchant, presentOwnMerchant } from '../../../merchants/present-merchant.ts';
import { pauseOwn } from '../../../operations/merchants/portal.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { merchantBadges } from '../merchants/list-merchants.ts';
import { describeHeld, renderDelivery } from '../merchants/render-delivery.ts';
import { renderFilter } from '../merchants/render-filter.ts';
import { describeRequest } from '../merchants/request-fields.ts';
import { BACKFILL_WORDS } from '../merchants/show-merchant.ts';
import { formatBounded, formatCount, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { facts, idText, say } from '../parts/page-components.ts';
import type { PlatformNames } from '../parts/read-platform-names.ts';
import { postForm, sendPage } from '../parts/send-page.ts';
import { renderAddresses } from './change-addresses.ts';
import { ownCallbackTable, sendWaiting } from './list-own-callbacks.ts';
import type { CreatePortalForm } from './portal-form.ts';
import { CALLBACKS, HOME } from './site.ts';

const CALLBACKS_SHOWN = 20;
const REFRESH_S = 60;

/** The first page: what may be done, how callbacks reach the merchant, its filters, its last callbacks. */
export function homePage(context: PortalContext): Router {
  const router = createRouter();
  router.get(HOME.address, async (request, response) => {
    const scope = getScope(response);
    const merchant = presentMerchant(scope.merchant);
    const { callbacks } = await scope.listCallbacks({}, { limit: CALLBACKS_SHOWN, after: undefined });
    const read = await scope.readDelivery();
    const { nextAttemptAt: next, counts } = read;
    const fails = merchant.failing_since !== null;
    const waits =
      (counts.pending.n > 0 && next !== undefined && (next > context.clock.now() || fails)) ||
      (counts.held.n > 0 && fails);
    const delivery = renderDelivery(context, merchant, read, {
      // no test is counted
      list: (state) => `${CALLBACKS.address}?state=${state}&tests=none`,
      item: ({ webhookId }) => `${CALLBACKS.address}/${webhookId}`,
      isOwn: true,
    });
    const names = await scope.readPlatformNames();
    const body = html`<div class="head"><h1>${merchant.name}</h1> ${merchantBadges(merchant)}</div>
<p class="sub">${idText(merchant.id)}</p>
${renderActions(response, scope, { waits, delivery: read })}
${delivery}
${await renderAddresses(context, scope, response)}
<section><h2>${t('Fatos')}</h2>${renderFacts(context, scope, names)}</section>
<section><h2>${t('Últimos callbacks')}</h2>${ownCallbackTable(context, callbacks, 'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.', names)}
<p class="actions"><a href="${CALLBACKS.address}">${t('Todos os callbacks')}</a><a href="${CALLBACKS.address}?tests=none">${t('Todos, sem testes')}</a></p></section>`;
    sendPage(request, response, { title: merchant.name, body, refreshS: REFRESH_S });
  });
  return router;
}

/** The reasons that the merchant corrects itself. */
const OWN_REASONS: readonly string[] = [DISABLED.gone, DISABLED.failing];

function renderActions(
  response: Response,
  { merchant, hold }: MerchantScope,
  { waits, delivery }: { waits: boolean; delivery: Delivery },
): Html {
  const { disabled_reason: why } = merchant;
  const isPausedByUs = merchant.state === 'paused' && merchant.paused_by !== 'merchant';
  const state =
    merchant.state === 'enabled'
      ? html`<button class="secondary" formaction="/portal/pause">${t('Pausar')}</button>`
      : !isPausedByUs && html`<button formaction="/portal/resume">${t('Retomar os envios')}</button>`;
  const buttons = html`<div class="actions"><button class="secondary" formaction="/portal/test">${t('Enviar um teste')}</button>${state}${
    hold === 'breaker' &&
    html`<button class="secondary" formaction="/portal/resume">${t('Fechar o disjuntor')}</button>`
  }${hold === undefined && waits && sendWaiting()}</div>`;
  return html`<section class="act bare" aria-label="${t('Ações')}">
${isPausedByUs && html`<p class="explain">${t('A operação pausou os envios: só ela pode retomá-los.')}</p>`}
${merchant.state === 'disabled' && why !== null && OWN_REASONS.includes(why) && html`<p class="explain bad">${tHtml('Desativado: {why}. Nada é enviado, e os callbacks ficam retidos. Conserte o endereço e retome os envios: eles seguem então.', { why: say(readDisabledReason(why)) })}</p>`}
${postForm(response, '/portal/test', buttons)}${!isPausedByUs && describeHeld(presentMerchant(merchant), delivery)}
<p class="actions"><a href="/portal/filter">${t('Filtrar o que chega')}</a><a href="/portal/replay">${t('Reenviar um período')}</a><a href="/portal/rotate-secret">${t('Trocar o segredo')}</a></p></section>`;
}

function renderFacts({ calendar }: PortalContext, { merchant: row }: MerchantScope, names: PlatformNames): Html {
  const merchant = presentOwnMerchant(row);
  return facts([
    [
      'Última busca',
      merchant.url === null ? (merchant.pulled_at ? moment(calendar, merchant.pulled_at) : t('nunca')) : null,
    ],
    ...describeRequest(merchant),
    ['Desativado porque', merchant.disabled_reason && say(readDisabledReason(merchant.disabled_reason))],
    ['Falhando desde', merchant.failing_since && moment(calendar, merchant.failing_since)],
    ['Por segundo, no máximo', merchant.rate ?? t('sem limite')],
    ['Eventos desde', moment(calendar, merchant.events_since)],
    ['O que a operação envia', renderFilter(merchant.filter, names)],
    ['O que você escolheu receber', renderFilter(merchant.own_filter, names)],
    ['Eventos anteriores', merchant.backfill && describeBackfill(merchant.backfill)],
  ]);
}

/** A backfill that is done and had nothing to send is not worth a line. */
function describeBackfill({ state, enqueued }: NonNullable<ReturnType<typeof presentOwnMerchant>['backfill']>): Part {
  const said = BACKFILL_WORDS[state];
  if (enqueued === 0) return state !== 'done' && said;
  return t('{state}: {callbacks} callbacks', { state: said, callbacks: formatCount(enqueued) });
}

const LOSES_NOTHING = 'Nada se perde: o que acontecer é retido, e sai em ordem quando você retomar.';

/** The form that pauses deliveries: its preview says what waits, and how they are resumed. */
export function pauseForm(form: CreatePortalForm): Router {
  return form({
    ...ofChange(pauseOwn),
    address: '/portal/pause',
    title: 'Pausar os envios',
    lead: LOSES_NOTHING,
    names: [],
    fields: async () => html``,
    read: () => ({}),
    preview: async (_none, { readDelivery }) => {
      const { pending } = (await readDelivery()).counts;
      return html`${facts([['Espera agora', formatBounded(pending)]])}<p class="explain">${t(LOSES_NOTHING)} ${t('Enquanto estiver pausado, nada novo é enviado, e os seus sistemas não ficam sabendo de pagamentos por aqui. Testes e exemplos continuam saindo. Para voltar: Retomar os envios, na primeira página; só você ou a operação retoma.')}</p>`;
    },
    done: 'paused',
  });
}
