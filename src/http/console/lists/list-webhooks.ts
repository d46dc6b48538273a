import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { listWebhooks } from '../../../inbox/manage/read-webhooks.ts';
import { auditPersonalAccess, getCaller } from '../../access/authorize.ts';
import { authorizeSearch } from '../../access/authorize-search.ts';
import { createRouter } from '../../create-router.ts';
import { readPage } from '../../parse-page.ts';
import { t } from '../languages/translate.ts';
import { decryptFilters, encryptFilters } from '../parts/encrypt-filters.ts';
import { EMPTY_VALUE, moment, shortId } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { badge, selectField, table, textField } from '../parts/page-components.ts';
import { isFiltered, nameFilters, parseFilters } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { formTokenField } from '../parts/send-page.ts';
import { describeCode, WEBHOOK_REASON_WORDS, WEBHOOK_STATE_WORDS } from '../parts/words.ts';
import { quarantineSection } from './purge-webhooks.ts';

const text = z.string().trim().max(512).optional();
const query = z.object({
  state: z.enum(['pending', 'applied', 'quarantined'], { error: () => t('estado desconhecido') }).optional(),
  reason: text,
  transaction_id: text,
  reference: text,
  extra: text,
});

const REFRESH_S = 5;

/** The inbox: all webhooks. Its first page without filters renews itself. */
export function webhookListPages(context: Context): Router {
  const router = createRouter();
  router.all('/inbox', encryptFilters(context, query));
  router.get('/inbox', async (request, response) => {
    const { transaction_id: transactionId, ...filters } = parseFilters(decryptFilters(context, request), query);
    const { rows, next } = await readPage(context, request, async ({ db }, limit, after) => {
      await authorizeSearch(context, getCaller(response), { ...filters, transactionId });
      return await listWebhooks(db, { ...filters, transactionId, limit, after });
    });
    const fields = [
      selectField({ name: 'state', label: 'Estado', value: filters.state, words: WEBHOOK_STATE_WORDS, any: 'Todos' }),
      selectField({
        name: 'reason',
        label: 'Motivo',
        value: filters.reason,
        words: WEBHOOK_REASON_WORDS,
        any: 'Todos',
      }),
      textField({ name: 'transaction_id', label: 'Id da transação', value: transactionId }),
      textField({ name: 'reference', label: 'Referência', value: filters.reference }),
      textField({ name: 'extra', label: 'Extra', value: filters.extra }),
    ];
    const areSet = isFiltered({ ...filters, transactionId });
    // without a filter nobody was looked up, and the list names no person: the live page would fill the audit
    const target = nameFilters({ ...filters, transaction_id: transactionId });
    if (areSet) await auditPersonalAccess(context, response, 'webhooks.list', target, 'console');
    const list = table({
      caption: 'Webhooks, os mais novos primeiro',
      rows,
      empty: areSet ? 'Nenhum webhook com estes filtros.' : 'Nenhum webhook chegou ainda.',
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
    const isQuarantine = filters.state === 'quarantined' && request.query.cursor === undefined;
    const lead = isQuarantine
      ? await quarantineSection(context, response)
      : isLive &&
        html`<p class="hint">${t('Ao vivo: com scripts, a página se renova a cada {n} s.', { n: REFRESH_S })} <a href="/inbox?state=quarantined">${t('Quarentena por motivo')}</a></p>`;
    sendList(request, response, {
      ...(isLive ? { refreshS: REFRESH_S } : {}),
      lead,
      title: 'Webhooks',
      address: '/inbox',
      filters: { fields, areSet, token: formTokenField(response) },
      rows: list,
      next,
    });
  });
  return router;
}
