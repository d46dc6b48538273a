import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { SYSTEM_ACTOR } from '../../../access/audit.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../../expected/decide/decide-state.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { EXPORT_FORMATS } from '../../../reports/serve/export-found.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type Label, t, words } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { CHARGING, chargingFields, chargingLinks } from '../expected/charging.ts';
import {
  amountFacts,
  describeFacts,
  dueDay,
  RULE_WORDS,
  stateBadge,
  stateBadges,
  untilDecided,
} from '../expected/describe-expected.ts';
import { summedMax, totals } from '../expected/order-tables.ts';
import { renderAlike } from '../expected/render-alike.ts';
import { storyTable } from '../expected/render-story.ts';
import { encryptAddress, type Filters } from '../parts/encrypt-filters.ts';
import { type Draft, dayField, disputedField, filterField, inputField, silentField } from '../parts/fields.ts';
import { formatCount, formatDay, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, facts, idText, say, type TableColumn, table } from '../parts/page-components.ts';
import { filterChoice, filterDay, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { listFiles, sendList, sendWrongFilters } from '../parts/send-list.ts';
import { sendPage } from '../parts/send-page.ts';
import { OPERATION_CHOICES, ORDER_STATE_WORDS } from '../parts/words.ts';
import {
  explainCompeting,
  explainElsewhere,
  explainSending,
  explainState,
  sayOrderMessages,
  saySilence,
} from './explain-orders.ts';
import type { OwnOrders } from './own-orders.ts';
import { CALLBACKS, ORDERS } from './site.ts';

const query = z.object({
  state: filterChoice(EXPECTED_STATES),
  operation: filterChoice(OPERATIONS),
  number: filterText(120),
  reference: filterText(512),
  due_from: filterDay,
  due_to: filterDay,
  disputed: filterChoice(['true']),
  silent: filterChoice(['true']),
  ...CHARGING,
});

/** The merchant's orders: which of them are paid, each with its payments; and how to send one. */
export function orderPages(context: PortalContext, orders: OwnOrders): Router {
  const router = createRouter();
  const refuse = (request: Request, response: Response, draft: Draft): void =>
    sendWrongFilters(request, response, { ...ORDERS, filters: { fields: fields(draft), areSet: true } });
  router.get(ORDERS.address, async (request, response) => {
    const { filters, draft } = readFilters(request.query, query);
    if (filters === undefined) {
      refuse(request, response, draft);
      return;
    }
    const scope = getScope(response);
    if (scope.sources.length === 0) {
      const body = html`<h1>${t(ORDERS.title)}</h1><p class="empty">${t('Este token não tem origens de pedidos: peça à operação um que as tenha.')}</p>`;
      sendPage(request, response, { title: t(ORDERS.title), body });
      return;
    }
    const { rows, next } = await orders.list(request, response, filters);
    const areSet = isFiltered(filters);
    const { cursor: _, limit: __, ...given } = request.query;
    const addressOf = (path: string, more: Filters = {}): string =>
      encryptAddress(context, request, path, { ...given, ...more });
    const file = rows.length > 0 && listFiles((format) => addressOf(`${ORDERS.address}.${format}`));
    const newestMax = summedMax(filters);
    const sums = await orders.sum(response, filters, newestMax);
    const names = await scope.readPlatformNames();
    const empty = areSet
      ? 'Nenhum pedido com estes filtros: remova um deles.'
      : 'Nenhum pedido até agora: envie o primeiro como abaixo.';
    sendList(request, response, {
      ...ORDERS,
      lead: html`${sums.length > 0 && totals(sums, { newestMax, addressOf: (more) => addressOf(ORDERS.address, more) })}${chargingLinks(ORDERS.address, filters.alike)}${file}`,
      filters: { fields: fields(draft), areSet },
      rows: html`${sayOrderMessages(scope.merchant, filters.silent === undefined)}${orderTable(scope, { rows, empty, names })}${explainSending(context, scope, { isOpen: rows.length === 0 && !areSet, names })}`,
      next,
    });
  });
  for (const format of EXPORT_FORMATS)
    router.get(`${ORDERS.address}.${format}`, async (request, response) => {
      const { filters, draft } = readFilters(request.query, query);
      if (filters === undefined) refuse(request, response, draft);
      else await orders.sendFile(response, filters, format);
    });
  router.get(`${ORDERS.address}/:id`, async (request: Request<{ id: string }>, response) => {
    const scope = getScope(response);
    const {
      order,
      reason,
      competing,
      competing_elsewhere: elsewhere,
      alike,
      story,
      tokens,
    } = await orders.show(response, request.params.id);
    const waiting = untilDecided(order);
    const names = await scope.readPlatformNames();
    const body = html`<p class="crumb"><a href="${ORDERS.address}">${t(ORDERS.title)}</a></p>
<div class="head"><h1>${order.number}</h1> ${stateBadge(order.state)}${disputeBadge(order)}</div><p class="sub">${idText(order.id)}</p>
${waiting.hint}${saySilence(scope.merchant, order, names)}
${reason.length > 0 && html`<p class="lead">${say(reason)}</p>`}
${facts([
  ...amountFacts(order),
  ['Pago em', order.paid_day && formatDay(order.paid_day)],
  ['Dias de atraso', order.late_days > 0 ? formatCount(order.late_days) : null],
  ['Devolvido', order.refunded === '0.00' ? null : moneyOf(order.refunded)],
])}
${explainState(context, order, alike.length > 0)}
<section><h2>${t('Pagamentos')}</h2>${(order.matches.length > 0 || order.candidates.length === 0) && matchTable(order)}${candidateTable(order)}</section>
${renderAlike(alike, { payment: paymentLink, orders: ORDERS.address }, { names, explain: t('Se um é deste pedido, envie o pedido de novo com a referência e a plataforma que vieram (PUT), ou peça à operação que o case.') })}
${explainCompeting(context, order, { competing, elsewhere })}${explainElsewhere(order, elsewhere)}
<section><h2>${t('Fatos')}</h2>${describeFacts(order, names)}</section>
<section><h2>${t('História')}</h2>${storyTable(context, story, {
      linkTo: paymentLink,
      nameOf: (actor) => tokens.get(actor) ?? (actor === SYSTEM_ACTOR ? 'Confere' : t('a operação')),
      noteOf: (note) => note,
    })}</section>`;
    sendPage(request, response, { title: order.number, body, ...waiting.page });
  });
  return router;
}

function fields(draft: Draft): Html[] {
  return [
    filterField(draft, { name: 'state', label: 'Estado', words: ORDER_STATE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'operation', label: 'Operação', words: OPERATION_CHOICES, any: 'Todas' }),
    inputField(draft, { name: 'number', label: 'Número', hint: t('O número inteiro.') }),
    inputField(draft, { name: 'reference', label: 'Referência', hint: t('A referência inteira.') }),
    dayField(draft, { name: 'due_from', label: 'Vence de' }),
    dayField(draft, { name: 'due_to', label: 'Vence até' }),
    disputedField(draft),
    silentField(draft),
    ...chargingFields(draft),
  ];
}

const DISPUTE_WORDS: Record<string, string> = words({ disputed: 'em disputa' });

function disputeBadge({ disputed }: PresentedExpected): Html | false {
  return disputed && html` ${badge(DISPUTE_WORDS, 'disputed')}`;
}

type Shown = {
  rows: PresentedExpected[];
  empty: Label;
  names: PlatformNames;
};

/** Orders, with the source of each where the token has several: it is part of their key; with their platforms where these differ. */
function orderTable({ sources }: MerchantScope, { rows, empty, names }: Shown): Html {
  const source: TableColumn<PresentedExpected> = { title: 'Origem', cell: (row) => row.source };
  const platform: TableColumn<PresentedExpected> = {
    title: 'Plataforma',
    cell: (row) => showPlatform(names, row.platform),
  };
  const differ = new Set(rows.map((row) => row.platform)).size > 1;
  return table({
    caption: 'Pedidos, os mais novos primeiro',
    rows,
    empty,
    columns: [
      ...(sources.length > 1 ? [source] : []),
      { title: 'Número', cell: (row) => html`<a href="${ORDERS.address}/${row.id}">${row.number}</a>` },
      { title: 'Referência', cell: (row) => row.references.join(', ') },
      ...(differ ? [platform] : []),
      { title: 'Vencimento', cell: dueDay },
      {
        title: 'Estado',
        cell: (row) => html`${stateBadges(row)}${disputeBadge(row)}`,
      },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Pago', cell: (row) => moneyOf(row.paid), align: 'end' },
      { title: 'Pago em', cell: (row) => row.paid_day && formatDay(row.paid_day) },
    ],
  });
}

/** A link to the messages of a payment. */
function paymentLink(id: string): Html {
  return html`<a href="${CALLBACKS.address}?transaction_id=${encodeURIComponent(id)}">${shortId(id)}</a>`;
}

/** The payments of an order, each with a link to its messages. */
function matchTable({ matches }: PresentedExpected): Html {
  return table({
    caption: 'Pagamentos deste pedido',
    rows: matches,
    empty: 'Nenhum pagamento até agora.',
    columns: [
      { title: 'Pagamento', cell: (one) => paymentLink(one.transaction_id) },
      { title: 'Valor', cell: (one) => moneyOf(one.amount), align: 'end' },
      { title: 'Como', cell: (one) => describeCode(RULE_WORDS, one.rule) },
    ],
  });
}

const CANDIDATE_WORDS: Record<string, string> = words({
  not_unique: 'chegou, mas serve a mais de um pedido: não conta para este',
  undone: 'a operação o separou deste pedido',
  pending: 'ainda não foi pago',
});

/** The payments that may be of an order, each with what became of it. */
function candidateTable({ candidates }: PresentedExpected): Html | false {
  if (candidates.length === 0) return false;
  return table({
    caption: 'Pagamentos que podem ser deste pedido',
    rows: candidates,
    empty: 'Nenhum pagamento até agora.',
    columns: [
      { title: 'Pagamento', cell: (one) => paymentLink(one.transaction_id) },
      { title: 'Valor', cell: (one) => moneyOf(one.amount), align: 'end' },
      { title: 'O que houve', cell: (one) => describeCode(CANDIDATE_WORDS, one.reason) },
    ],
  });
}
