import type { Router } from 'express';
import { z } from 'zod';
import { TEST_SOURCE } from '../../../callbacks/health/callback-sources.ts';
import type { PresentedCallback } from '../../../callbacks/manage/present-callback.ts';
import { CALLBACK_STATES } from '../../../callbacks/manage/read-callbacks.ts';
import { CHALLENGE_TYPE, TEST_TYPE } from '../../../callbacks/render/renderable.ts';
import type { Context } from '../../../context.ts';
import { callbacks } from '../../../operations/merchants/callbacks.ts';
import { MESSAGE_TYPES } from '../../../operations/merchants/message-types.ts';
import { type Label, t, words } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { orderLink } from '../expected/describe-expected.ts';
import { filterField, inputField } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, type TableColumn, table, transactionLink } from '../parts/page-components.ts';
import { filterChoice, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { CALLBACK_STATE_WORDS } from '../parts/words.ts';
import { type MerchantWords, merchantLink, readMerchantWords } from './list-merchants.ts';

const text = filterText(128);
const query = z.object({
  merchant: text,
  transaction_id: text,
  state: filterChoice(CALLBACK_STATES),
  type: text,
});
const LIST = { title: 'Callbacks', address: '/callbacks' } as const;

/** The types that a list may have: a challenge is kept in none. */
export const TYPE_WORDS = Object.fromEntries(
  MESSAGE_TYPES.filter((type) => type !== CHALLENGE_TYPE).map((type) => [type, type]),
);

/** The list of callbacks. */
export function callbackListPages(context: Context): Router {
  return createRouter().get('/callbacks', async (request, response) => {
    const { filters: given, draft } = readFilters(request.query, query);
    const merchants = await readMerchantWords(context, response);
    const fields = [
      filterField(draft, { name: 'state', label: 'Estado', words: CALLBACK_STATE_WORDS, any: 'Todos' }),
      filterField(draft, { name: 'merchant', label: 'Lojista', words: merchants, any: 'Todos' }),
      inputField(draft, { name: 'transaction_id', label: 'Id da transação' }),
      filterField(draft, { name: 'type', label: 'Tipo', words: TYPE_WORDS, any: 'Todos' }),
    ];
    if (given === undefined) {
      sendWrongFilters(request, response, { ...LIST, filters: { fields, areSet: true } });
      return;
    }
    const { rows, next } = await readListPage(context, callbacks, request, response, { filter: given });
    const areSet = isFiltered(given);
    const empty = areSet
      ? 'Nenhum callback com estes filtros: remova um deles.'
      : 'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.';
    sendList(request, response, {
      ...LIST,
      filters: { fields, areSet },
      rows: callbackTable(context, rows, empty, { merchants }),
      next,
    });
  });
}

const TEST_WORDS = words({ test: 'teste', example: 'exemplo' });

/** The type of a callback, marked if it is a test or an example. */
export function typeCell({ type, source }: Pick<PresentedCallback, 'type' | 'source'>): Html {
  const isTest = source === TEST_SOURCE;
  return html`<code>${type}</code>${isTest && html` ${badge(TEST_WORDS, type === TEST_TYPE ? 'test' : 'example')}`}`;
}

/**
 * A table of callbacks, each linked to its page.
 * @param place.on the item of the page: the table leaves out its column. @param place.merchants their names by id.
 */
export function callbackTable(
  context: Context,
  rows: PresentedCallback[],
  empty: Label,
  place: { on: 'merchant' } | { on?: 'transaction'; merchants: MerchantWords },
): Html {
  const { on } = place;
  const transaction: TableColumn<PresentedCallback> = {
    title: 'Transação ou pedido',
    cell: (row) =>
      row.expected_payment_id === null ? transactionLink(row.transaction_id) : orderLink(row.expected_payment_id),
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
      { title: 'Tipo', cell: typeCell },
      { title: 'Estado', cell: (row) => badge(CALLBACK_STATE_WORDS, row.state) },
      ...(place.on === 'merchant' ? [] : [merchantColumn(place.merchants)]),
      ...(on === 'transaction' ? [] : [transaction]),
      { title: 'Tentativas', cell: (row) => row.attempts, align: 'end' },
      ...(on === undefined ? [] : [created]),
      {
        title: 'Entrega',
        cell: (row) => deliveryMoment(context, row),
      },
    ],
  });
}

/** When it was delivered, or when the next attempt is planned: of one that waits for an earlier one none is. */
export function deliveryMoment(
  { calendar }: Pick<Context, 'calendar'>,
  row: Pick<PresentedCallback, 'state' | 'delivered_at' | 'waits_for_earlier' | 'next_attempt_at'>,
): Html {
  if (row.state === 'delivered') return moment(calendar, row.delivered_at);
  const planned = row.waits_for_earlier ? null : row.next_attempt_at;
  return html`${planned && html`<span class="hint">${t('próxima tentativa')}</span> `}${moment(calendar, planned)}`;
}

function merchantColumn(merchants: MerchantWords): TableColumn<PresentedCallback> {
  return { title: 'Lojista', cell: (row) => merchantLink(merchants, row.merchant_id) };
}
