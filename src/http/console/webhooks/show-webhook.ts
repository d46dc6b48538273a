import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { readStoredBody } from '../../../inbox/manage/read-stored-body.ts';
import { findWebhook } from '../../../inbox/manage/read-webhooks.ts';
import { maskWebhook } from '../../../operations/mask-texts.ts';
import { reprocessOneWebhook } from '../../../operations/webhooks.ts';
import { describeCode } from '../../../texts/fill.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { auditShownTransactions, canSeePersonalData } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { serveButton } from '../forms/serve-button.ts';
import { EMPTY_VALUE, moment, shortenId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, facts, idText, table, transactionLink } from '../parts/page-components.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { STATUS_WORDS, WEBHOOK_REASON_WORDS, WEBHOOK_STATE_WORDS } from '../parts/words.ts';

const BODY_CHARS_MAX = 16_384;

type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>;

/** The page of a webhook, with the state of its items and the form that reprocesses it. */
export function webhookPages(context: Context): Router {
  const router = createRouter();
  router.get('/inbox/:id', async (request: Request<{ id: string }>, response) => {
    const found = await findWebhook(context.db, request.params.id);
    if (!found) throw refuse('webhook_unknown');
    const full = canSeePersonalData(response);
    const webhook = full ? found : await maskWebhook(context.db, found);
    const raw = full ? await readRaw(context, webhook.seq) : undefined;
    if (raw) {
      // the body may name a person
      await auditShownTransactions(context, response, 'webhooks.show', {
        target: webhook.id,
        transactions: webhook.items_detail.map((item) => item.transaction_id),
        via: 'console',
      });
    }
    const again = postForm(
      response,
      `/inbox/${webhook.id}/reprocess`,
      html`<div class="actions"><button>${t('Reprocessar')}</button></div>`,
    );
    const body = html`<p class="crumb"><a href="/inbox">${t('Webhooks')}</a></p>
<div class="head"><h1>${t('Webhook')}</h1> ${badge(WEBHOOK_STATE_WORDS, webhook.state)}</div>
<p class="sub">${idText(webhook.id)}</p>
${hasRole(response, ...reprocessOneWebhook.roles) && html`<section class="act bare" aria-label="${t('Reprocessar')}">${again}</section>`}
<section><h2>${t('Fatos')}</h2>${facts([
      ['Recebido em', moment(context.calendar, webhook.received_at)],
      ['Motivo', webhook.reason && describeCode(WEBHOOK_REASON_WORDS, webhook.reason)],
      ['Repetições', webhook.repeats],
      ['Endereço de origem', raw?.address],
    ])}</section>
<section><h2>${t('Itens')}</h2>${renderItems(context, webhook)}</section>
${raw && html`<section><h2>${t('Corpo recebido')}</h2><pre class="raw" tabindex="0">${raw.body}</pre></section>`}`;
    sendPage(request, response, { title: `${t('Webhook')} ${shortenId(webhook.id)}`, body });
  });

  const to = (id: string): string => `/inbox/${encodeURIComponent(id)}?done=reprocessed`;
  router.use(serveButton(context, reprocessOneWebhook, { address: '/inbox/:id/reprocess', to }));
  return router;
}

type Raw = { body: string; address: string };

async function readRaw(context: Context, seq: number): Promise<Raw | undefined> {
  const stored = await readStoredBody(context, seq);
  if (!stored) return undefined;
  const { sourceAddress: address } = stored;
  if (!stored.body) return { body: t('O corpo foi apagado.'), address };
  const text = indentJson(stored.body.toString('utf8'));
  const body = text.length > BODY_CHARS_MAX ? `${text.slice(0, BODY_CHARS_MAX)}\n… (${t('cortado')})` : text;
  return { body, address };
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function renderItems(context: Context, webhook: Webhook): Html {
  return table({
    caption: 'Itens do webhook',
    rows: webhook.items_detail,
    empty: 'Nenhum item: o corpo não pôde ser lido, ou ainda não foi.',
    columns: [
      { title: 'Transação', cell: (item) => transactionLink(item.transaction_id) },
      { title: 'Referência', cell: (item) => item.reference ?? EMPTY_VALUE },
      {
        title: 'Diz',
        cell: (item) => (item.claimed_status === null ? EMPTY_VALUE : describeCode(STATUS_WORDS, item.claimed_status)),
      },
      { title: 'Estado', cell: (item) => badge(WEBHOOK_STATE_WORDS, item.state) },
      {
        title: 'Motivo',
        cell: (item) =>
          item.contradicted
            ? t('o provedor não mostra o que ele diz')
            : item.reason
              ? describeCode(WEBHOOK_REASON_WORDS, item.reason)
              : EMPTY_VALUE,
      },
      { title: 'Consultas', cell: (item) => item.looks, align: 'end' },
      { title: 'Próxima', cell: (item) => moment(context.calendar, item.next_look_at) },
    ],
  });
}
