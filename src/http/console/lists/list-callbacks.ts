import type { Router } from 'express';
import { z } from 'zod';
import { type PresentedCallback, presentCallback } from '../../../callbacks/manage/present-callback.ts';
import { CALLBACK_STATES, listCallbacks } from '../../../callbacks/manage/read-callbacks.ts';
import type { Context } from '../../../context.ts';
import { createRouter } from '../../create-router.ts';
import { readPage } from '../../parse-page.ts';
import { t } from '../languages/translate.ts';
import { moment, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, selectField, type TableColumn, table, textField, transactionLink } from '../parts/page-components.ts';
import { isFiltered, parseFilters } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { CALLBACK_STATE_WORDS } from '../parts/words.ts';

const text = z.string().trim().max(256).optional();
const query = z.object({
  merchant: text,
  transaction_id: text,
  state: z.enum(CALLBACK_STATES, { error: () => t('estado desconhecido') }).optional(),
  type: text,
});

/** The list of callbacks. */
export function callbackListPages(context: Context): Router {
  const router = createRouter();
  router.get('/callbacks', async (request, response) => {
    const { transaction_id: transactionId, ...filters } = parseFilters(request.query, query);
    const { rows, next } = await readPage(context, request, ({ db }, limit, before) =>
      listCallbacks(db, { ...filters, transactionId }, { limit, before }),
    );
    const fields = [
      selectField({ name: 'state', label: 'Estado', value: filters.state, words: CALLBACK_STATE_WORDS, any: 'Todos' }),
      textField({ name: 'merchant', label: 'Id do lojista', value: filters.merchant }),
      textField({ name: 'transaction_id', label: 'Id da transação', value: transactionId }),
      textField({ name: 'type', label: 'Tipo', value: filters.type }),
    ];
    const areSet = isFiltered({ ...filters, transactionId });
    const empty = areSet ? 'Nenhum callback com estes filtros.' : 'Nenhum callback até agora.';
    sendList(request, response, {
      title: 'Callbacks',
      address: '/callbacks',
      filters: { fields, areSet },
      rows: callbackTable(context, rows.map(presentCallback), empty),
      next,
    });
  });
  return router;
}

/** A table of callbacks, each linked to its page. @param on whose page the table is on; it then has no such column. */
export function callbackTable(
  context: Context,
  rows: PresentedCallback[],
  empty: string,
  on?: 'merchant' | 'transaction',
): Html {
  const merchant: TableColumn<PresentedCallback> = {
    title: 'Lojista',
    cell: (row) => html`<a href="/merchants/${row.merchant_id}">${shortId(row.merchant_id)}</a>`,
  };
  const transaction: TableColumn<PresentedCallback> = {
    title: 'Transação',
    cell: (row) => transactionLink(row.transaction_id),
  };
  const created: TableColumn<PresentedCallback> = {
    title: 'Criado em',
    cell: (row) => moment(context.calendar, row.created_at),
  };
  return table({
    caption: 'Callbacks',
    rows,
    empty,
    columns: [
      { title: 'Callback', cell: (row) => html`<a class="id" href="/callbacks/${row.id}">${row.id}</a>` },
      { title: 'Tipo', cell: (row) => html`<code>${row.type}</code>` },
      { title: 'Estado', cell: (row) => badge(CALLBACK_STATE_WORDS, row.state) },
      ...(on === 'merchant' ? [] : [merchant]),
      ...(on === 'transaction' ? [] : [transaction]),
      { title: 'Tentativas', cell: (row) => row.attempts, align: 'end' },
      ...(on === undefined ? [] : [created]),
      {
        title: 'Entregue ou próxima',
        cell: (row) => moment(context.calendar, row.delivered_at ?? row.next_attempt_at),
      },
    ],
  });
}
