import type { Request, Router } from 'express';
import { TEST_SOURCE } from '../../../callbacks/health/callback-sources.ts';
import { findCallback } from '../../../callbacks/manage/read-callbacks.ts';
import { closedBreaker } from '../../../callbacks/manage/read-delivery.ts';
import { readMessage } from '../../../callbacks/manage/read-message.ts';
import { findHold } from '../../../callbacks/manage/redeliver.ts';
import type { Context } from '../../../context.ts';
import { selectMerchants } from '../../../merchants/read-merchants.ts';
import { redeliverCallback, showCallback } from '../../../operations/merchants/callbacks.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { orderLink } from '../expected/describe-expected.ts';
import { serveButton } from '../forms/serve-button.ts';
import { moment } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { badge, facts, idText } from '../parts/page-components.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { CALLBACK_STATE_WORDS, STATUS_WORDS } from '../parts/words.ts';
import { merchantLink, readMerchantWords } from './list-merchants.ts';
import { renderAttempts } from './render-attempts.ts';
import { describeClosed, describeHold } from './render-delivery.ts';
import { renderMessage } from './render-message.ts';

/** A person waits for the outcome of a test. */
const TEST_REFRESH_S = 2;

/** The page of a callback: its attempts, its message, and the form that redelivers it. */
export function callbackPages(context: Context): Router {
  const router = createRouter();
  router.get('/callbacks/:id', async (request: Request<{ id: string }>, response) => {
    const row = await findCallback(context.db, request.params.id);
    const by = { caller: getCaller(response), id: request.params.id, via: 'console' } as const;
    const { attempt_list: attempts, ...callback } = await showCallback(context, row, by);
    const withBody = canSeePersonalData(response);
    // none if it was removed
    const merchant = await selectMerchants(context.db).where('id', '=', callback.merchant_id).executeTakeFirst();
    const hold = merchant && findHold(merchant);
    const again = hold
      ? describeHold(hold, row.source)
      : postForm(
          response,
          `/callbacks/${callback.id}/redeliver`,
          html`<div class="actions"><button>${t('Entregar de novo')}</button></div>`,
        );
    const body = html`<p class="crumb"><a href="/callbacks">${t('Callbacks')}</a></p>
<div class="head"><h1><code>${callback.type}</code></h1> ${badge(CALLBACK_STATE_WORDS, callback.state)}</div>
<p class="sub">${idText(callback.webhook_id)}</p>${describeClosed(await closedBreaker(context.db, row))}
${hasRole(response, ...redeliverCallback.roles) && html`<section class="act bare" aria-label="${t('Entregar')}">${again}</section>`}
<section><h2>${t('Fatos')}</h2>${facts([
      ['Lojista', merchantLink(await readMerchantWords(context, response), callback.merchant_id)],
      [
        'Transação',
        callback.transaction_id &&
          html`<a class="id" href="/transactions/${encodeURIComponent(callback.transaction_id)}">${callback.transaction_id}</a>`,
      ],
      ['Pedido', callback.expected_payment_id && orderLink(callback.expected_payment_id)],
      ['Situação anterior', callback.previous_status && describeCode(STATUS_WORDS, callback.previous_status)],
      ['Criado em', moment(context.calendar, callback.created_at)],
      [
        'Próxima tentativa',
        !callback.waits_for_earlier && callback.next_attempt_at && moment(context.calendar, callback.next_attempt_at),
      ],
      [
        callback.state === 'delivered' ? 'Entregue em' : 'Entregue antes em',
        callback.delivered_at && moment(context.calendar, callback.delivered_at),
      ],
    ])}</section>
<section><h2>${t('Tentativas')}</h2>${renderAttempts(context, attempts, withBody)}</section>
${withBody && renderMessage(row.webhook_id, await readMessage(context, row, merchant?.format ?? 'standard'), attempts.at(-1)?.request_headers)}`;
    const isAwaited = row.source === TEST_SOURCE && callback.state === 'pending';
    sendPage(request, response, {
      title: `${t('Callback')} ${callback.id}`,
      body,
      ...(isAwaited ? { refreshS: TEST_REFRESH_S } : {}),
    });
  });

  const to = (id: string) => `/callbacks/${id}?done=redelivered`;
  router.use(serveButton(context, redeliverCallback, { address: '/callbacks/:id/redeliver', to }));
  return router;
}
