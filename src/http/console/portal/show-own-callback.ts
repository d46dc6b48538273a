import type { Request, Router } from 'express';
import { JITTER } from '../../../callbacks/deliver/decide-outcome.ts';
import { TEST_SOURCE } from '../../../callbacks/health/callback-sources.ts';
import type { PresentedOwnCallback } from '../../../callbacks/manage/present-callback.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { typeCell } from '../merchants/list-callbacks.ts';
import { renderAttempts } from '../merchants/render-attempts.ts';
import { describeClosed, describeHold, explainHeld } from '../merchants/render-delivery.ts';
import { renderMessage } from '../merchants/render-message.ts';
import { formatExactDuration, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, facts, idText } from '../parts/page-components.ts';
import { spellPlatform } from '../parts/read-platform-names.ts';
import { postForm, sendPage } from '../parts/send-page.ts';
import { CALLBACK_STATE_WORDS, STATUS_WORDS } from '../parts/words.ts';
import { CALLBACKS } from './site.ts';

/** A person waits for the outcome of a test. */
const TEST_REFRESH_S = 2;

/** The page of one of the merchant's callbacks: its attempts, its message, and the form that redelivers it. */
export function ownCallbackPage({ calendar, config }: PortalContext): Router {
  const router = createRouter();
  router.get('/portal/callbacks/:id', async (request: Request<{ id: string }>, response) => {
    const scope = getScope(response);
    const { callback, step, attempts, readAddresses, closedBreaker, message } = await scope.showCallback(
      request.params.id,
    );
    const again = postForm(
      response,
      `${CALLBACKS.address}/${callback.id}/redeliver`,
      html`<div class="actions"><button>${callback.state === 'pending' ? t('Tentar agora') : t('Entregar de novo')}</button></div>`,
    );
    const isHeld = !scope.hold && callback.state === 'held' && scope.merchant.failing_since !== null;
    const waits =
      callback.waits_for_earlier &&
      html`<p class="explain">${t('Aguarda uma mensagem anterior da mesma transação ou do mesmo pedido: quando aquela for entregue, esta segue.')} <a href="${CALLBACKS.address}?transaction_id=${callback.transaction_id ?? ''}">${t('Todos os callbacks')}</a></p>`;
    const body = html`<p class="crumb"><a href="${CALLBACKS.address}">${t('Callbacks')}</a></p>
<div class="head"><h1>${typeCell(callback)}</h1> ${badge(CALLBACK_STATE_WORDS, callback.state)}</div>
<p class="sub">${idText(callback.id)}</p>
${waits}${describeClosed(await closedBreaker())}
<section class="act bare" aria-label="${t('Entregar')}">${scope.hold ? describeHold(scope.hold, callback.source) : again}${isHeld && explainHeld()}</section>
<section><h2>${t('Fatos')}</h2>${facts([
      ['Transação', callback.transaction_id && idText(callback.transaction_id)],
      ['Pedido', callback.expected_payment_id && idText(callback.expected_payment_id)],
      ['Referência', callback.reference],
      ['Plataforma', callback.platform && spellPlatform(await scope.readPlatformNames(), callback.platform)],
      ['Situação anterior', callback.previous_status && describeCode(STATUS_WORDS, callback.previous_status)],
      ['Criado em', moment(calendar, callback.created_at)],
      [
        'Próxima tentativa',
        !callback.waits_for_earlier && callback.next_attempt_at && moment(calendar, callback.next_attempt_at),
      ],
      [
        callback.state === 'delivered' ? 'Entregue em' : 'Entregue antes em',
        callback.delivered_at && moment(calendar, callback.delivered_at),
      ],
    ])}</section>
<section><h2>${t('Tentativas')}</h2>${scope.merchant.url !== null && describeRetries(config, callback, step)}${renderAttempts({ calendar }, attempts, true, await readAddresses())}</section>
${renderMessage(callback.id, message, attempts.at(-1)?.request_headers)}`;
    const isAwaited = callback.source === TEST_SOURCE && callback.state === 'pending';
    sendPage(request, response, {
      title: `${t('Callback')} ${callback.id}`,
      body,
      ...(isAwaited ? { refreshS: TEST_REFRESH_S } : {}),
    });
  });
  return router;
}

/** Says after which waits a message that waits is tried again, and that no attempt follows of one that failed. Only what is left of the schedule: earlier attempts may have followed another one. */
function describeRetries(
  { CALLBACK_RETRY_SCHEDULE: schedule }: PortalContext['config'],
  { source, state }: Pick<PresentedOwnCallback, 'source' | 'state'>,
  step: number,
): Html | false {
  if (source === TEST_SOURCE) return html`<p class="hint">${t('Um teste ou exemplo é tentado uma vez só.')}</p>`;
  if (state === 'failed') return html`<p class="hint">${t('Nenhuma tentativa segue por si: entregue de novo.')}</p>`;
  if (state !== 'pending') return false;
  const waits = schedule.slice(step).map((ms) => formatExactDuration(ms / 1000));
  return html`<p class="hint">${
    waits.length === 0
      ? t('A próxima tentativa é a última: se falhar, a mensagem falha, ou fica retida se você não aceita nenhuma.')
      : t('Se a próxima tentativa falhar, seguem outras depois de {waits}; cada espera varia até {percent} %.', {
          waits: waits.join(', '),
          percent: 100 * JITTER,
        })
  }</p>`;
}
