import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { TEST_SOURCE } from '../../../callbacks/health/callback-sources.ts';
import type { PresentedOwnCallback } from '../../../callbacks/manage/present-callback.ts';
import { CALLBACK_STATES } from '../../../callbacks/manage/read-callbacks.ts';
import { TESTS } from '../../../callbacks/manage/read-own-callbacks.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { type Label, t, words } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { OWN_CALLBACK_CHARS_MAX } from '../../api/merchants/portal.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage } from '../../parse-page.ts';
import { deliveryMoment, TYPE_WORDS, typeCell } from '../merchants/list-callbacks.ts';
import { encryptFilters, readSealedFilters } from '../parts/encrypt-filters.ts';
import { type Draft, dayField, filterField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE, moment, shortId } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { filterChoice, filterDay, filterText, isFiltered } from '../parts/parse-filters.ts';
import type { PlatformNames } from '../parts/read-platform-names.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { formTokenField, postForm } from '../parts/send-page.ts';
import { CALLBACK_STATE_WORDS } from '../parts/words.ts';
import { CALLBACKS, RESEND_TESTS } from './site.ts';

/** A longer reference is broken. */
const REFERENCE_CHARS = 24;

const query = z.object({
  about: filterText(OWN_CALLBACK_CHARS_MAX.about),
  tests: filterChoice(TESTS),
  reference: filterText(OWN_CALLBACK_CHARS_MAX.reference),
  extra: filterText(OWN_CALLBACK_CHARS_MAX.extra),
  transaction_id: filterText(OWN_CALLBACK_CHARS_MAX.transaction_id),
  state: filterChoice(CALLBACK_STATES),
  type: filterText(OWN_CALLBACK_CHARS_MAX.type),
  from: filterDay,
  to: filterDay,
});

/** The merchant's callbacks, by reference, extra and day. An extra may name a person: it is posted, and sealed in the address. */
export function ownCallbackPages(context: PortalContext): Router {
  const router = createRouter();
  const refuse = (request: Request, response: Response, draft: Draft): void =>
    sendWrongFilters(request, response, { ...CALLBACKS, filters: { ...form(response, draft), areSet: true } });
  const list = { schema: query, field: 'extra', refuse };
  router.all(CALLBACKS.address, encryptFilters(context, list));
  router.get(CALLBACKS.address, async (request, response) => {
    const { filters, draft } = readSealedFilters(context, request, list);
    if (filters === undefined) {
      refuse(request, response, draft);
      return;
    }
    const { transaction_id: transactionId, ...search } = filters;
    const scope = getScope(response);
    const { callbacks, next } = await scope.listCallbacks({ ...search, transactionId }, parsePage(request));
    const areSet = isFiltered(filters);
    const empty = areSet
      ? 'Nenhum callback com estes filtros: remova um deles.'
      : 'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.';
    sendList(request, response, {
      ...CALLBACKS,
      filters: { ...form(response, draft), areSet },
      lead: html`${resendTests(context, response, callbacks)}${resendWaiting(context, response, callbacks)}`,
      rows: ownCallbackTable(context, callbacks, empty, await scope.readPlatformNames()),
      next,
    });
  });
  return router;
}

/** A button that sends the failed tests and examples again, since the oldest one that is shown. */
function resendTests({ calendar }: PortalContext, response: Response, rows: PresentedOwnCallback[]): Html | false {
  const oldest = rows.findLast(({ source, state }) => source === TEST_SOURCE && state === 'failed');
  if (!oldest || getScope(response).hold) return false;
  const words = tHtml('Reenviar os testes que falharam desde {at}', { at: moment(calendar, oldest.created_at) });
  const from = html`<input type="hidden" name="from" value="${oldest.created_at}">`;
  return postForm(
    response,
    RESEND_TESTS,
    html`${from}<div class="actions"><button class="secondary">${words}</button></div>`,
  );
}

/** A button that sends at once all that waits for a later time, if some of it is shown. */
function resendWaiting({ clock }: PortalContext, response: Response, rows: PresentedOwnCallback[]): Html | false {
  const { hold, merchant } = getScope(response);
  const now = clock.now().toISOString();
  const waits = rows.some(
    ({ source, state, next_attempt_at: at }) =>
      (source !== TEST_SOURCE && state === 'pending' && at !== null && at > now) ||
      (state === 'held' && merchant.failing_since !== null),
  );
  if (!waits || hold) return false;
  return postForm(response, '/portal/resume', html`<div class="actions">${sendWaiting()}</div>`);
}

export function sendWaiting(): Html {
  return html`<button class="secondary" formaction="/portal/resume">${t('Enviar agora tudo o que espera')}</button>`;
}

const TEST_WORDS: Record<(typeof TESTS)[number], Label> = words({ none: 'sem testes', only: 'só testes' });

function form(response: Response, draft: Draft) {
  const fields = [
    inputField(draft, { name: 'about', label: 'Referência, E2E, pedido', hint: t('Inteiro, não só o começo.') }),
    ...(draft.values.reference ? [inputField(draft, { name: 'reference', label: 'Referência' })] : []),
    inputField(draft, { name: 'extra', label: 'Extra' }),
    ...(draft.values.transaction_id ? [inputField(draft, { name: 'transaction_id', label: 'Id da transação' })] : []),
    filterField(draft, { name: 'state', label: 'Estado', words: CALLBACK_STATE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'type', label: 'Tipo', words: TYPE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'tests', label: 'Testes', words: TEST_WORDS, any: 'Todos' }),
    dayField(draft, { name: 'from', label: 'De' }),
    dayField(draft, { name: 'to', label: 'Até' }),
  ];
  return { fields, token: formTokenField(response) };
}

/** A table of the merchant's callbacks, each linked to its page. @param names of platforms. */
export function ownCallbackTable(
  { calendar }: Pick<PortalContext, 'calendar'>,
  rows: PresentedOwnCallback[],
  empty: Label,
  names: PlatformNames,
): Html {
  return table({
    caption: 'Callbacks',
    rows,
    empty,
    columns: [
      { title: 'Callback', cell: (row) => html`<a href="${CALLBACKS.address}/${row.id}">${shortId(row.id)}</a>` },
      { title: 'Tipo', cell: typeCell },
      {
        title: 'Estado',
        cell: ({ state, attempts: n }) =>
          html`${badge(CALLBACK_STATE_WORDS, state)}${n > 1 && html` <span class="hint">${t('{n} tentativas', { n })}</span>`}`,
      },
      { title: 'Referência', cell: (row) => nameSubject(row, names) },
      { title: 'Criado em', cell: (row) => moment(calendar, row.created_at) },
      {
        title: 'Entrega',
        cell: (row) =>
          html`${deliveryMoment({ calendar }, row)}${row.waits_for_earlier && html` <span class="hint">${t('aguarda uma mensagem anterior')}</span>`}`,
      },
    ],
  });
}

/** The reference or the order's number, and below it the transaction or the order, and the platform's name: of columns for each, the last ones would not fit a window of 1,280. */
function nameSubject(
  { reference: ofTransaction, number, platform, ...ids }: PresentedOwnCallback,
  names: PlatformNames,
): Part {
  const { transaction_id: transaction, expected_payment_id: order } = ids;
  const shop = names.get(platform ?? '');
  const id = transaction ?? order;
  const reference = ofTransaction ?? number;
  // a hyphen breaks no reference that fits
  const named =
    reference !== null &&
    html`<span class="${reference.length <= REFERENCE_CHARS ? 'short' : 'long'}">${reference}</span>`;
  if (id === null) return named || EMPTY_VALUE;
  const below = html`${shortId(id)}${shop !== undefined && html` · ${shop}`}`;
  return reference === null ? below : html`${named}<br><span class="hint">${below}</span>`;
}
