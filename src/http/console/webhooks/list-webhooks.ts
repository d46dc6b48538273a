import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { WEBHOOK_STATES, webhooks } from '../../../operations/webhooks.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { encryptFilters, readSealedFilters } from '../parts/encrypt-filters.ts';
import { type Draft, filterField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE, moment, shortId } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { filterChoice, filterText, isFiltered } from '../parts/parse-filters.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { formTokenField } from '../parts/send-page.ts';
import { WEBHOOK_REASON_WORDS, WEBHOOK_STATE_WORDS } from '../parts/words.ts';
import { quarantineSection } from './purge-webhooks.ts';

const LIST = { title: 'Webhooks', address: '/inbox' } as const;
const text = filterText(512);
const query = z.object({
  state: filterChoice(WEBHOOK_STATES),
  reason: text,
  transaction_id: text,
  reference: text,
  extra: text,
});

const REFRESH_S = 5;

/** The inbox: all webhooks. Its first page without filters renews itself. */
export function webhookListPages(context: Context): Router {
  const router = createRouter();
  const refuse = (request: Request, response: Response, draft: Draft): void =>
    sendWrongFilters(request, response, { ...LIST, filters: { ...form(response, draft), areSet: true } });
  const list = { schema: query, field: 'extra', refuse };
  router.all('/inbox', encryptFilters(context, list));
  router.get('/inbox', async (request, response) => {
    const { filters: filter, draft } = readSealedFilters(context, request, list);
    if (filter === undefined) {
      refuse(request, response, draft);
      return;
    }
    const { rows, next } = await readListPage(context, webhooks, request, response, { filter, via: 'console' });
    const areSet = isFiltered(filter);
    const found = table({
      caption: 'Webhooks, os mais novos primeiro',
      rows,
      empty: areSet
        ? 'Nenhum webhook com estes filtros: tire um deles.'
        : 'Nenhum webhook chegou ainda: confira no provedor o endereço e o segredo.',
      columns: [
        {
          title: 'Webhook',
          cell: (row) => html`<a href="/inbox/${row.id}">${shortId(row.id)}</a>`,
        },
        { title: 'Recebido em', cell: (row) => moment(context.calendar, row.received_at) },
        { title: 'Estado', cell: (row) => badge(WEBHOOK_STATE_WORDS, row.state) },
        { title: 'Motivo', cell: (row) => (row.reason ? describeCode(WEBHOOK_REASON_WORDS, row.reason) : EMPTY_VALUE) },
        { title: 'Itens', cell: (row) => row.items, align: 'end' },
        { title: 'Repetições', cell: (row) => row.repeats, align: 'end' },
      ],
    });
    const isLive = !areSet && request.query.cursor === undefined;
    const isQuarantine = filter.state === 'quarantined' && request.query.cursor === undefined;
    const lead = isQuarantine
      ? await quarantineSection(context, response)
      : isLive &&
        html`<p class="hint">${t('Ao vivo: com scripts, a página se renova a cada {n} s.', { n: REFRESH_S })} <a href="/inbox?state=quarantined">${t('Quarentena por motivo')}</a></p>`;
    sendList(request, response, {
      ...(isLive ? { refreshS: REFRESH_S } : {}),
      lead,
      ...LIST,
      filters: { ...form(response, draft), areSet },
      rows: found,
      next,
    });
  });
  return router;
}

function form(response: Response, draft: Draft) {
  const fields = [
    filterField(draft, { name: 'state', label: 'Estado', words: WEBHOOK_STATE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'reason', label: 'Motivo', words: WEBHOOK_REASON_WORDS, any: 'Todos' }),
    inputField(draft, { name: 'transaction_id', label: 'Id da transação' }),
    inputField(draft, { name: 'reference', label: 'Referência' }),
    inputField(draft, { name: 'extra', label: 'Extra' }),
  ];
  return { fields, token: formTokenField(response) };
}
