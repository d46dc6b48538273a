import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { boundsOfMonth, type Day, monthOf } from '../../../domain/calendar.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../../expected/decide/decide-state.ts';
import { findNearestDue, sumExpected } from '../../../expected/read/filter-expected.ts';
import { readOpenMismatches } from '../../../mismatches/read-open-mismatches.ts';
import { putOne } from '../../../operations/expected/expected.ts';
import { expectedPayments, limitToCaller } from '../../../operations/expected/read-expected.ts';
import { EXPORT_FORMATS } from '../../../reports/serve/export-found.ts';
import { formatMonth } from '../../../texts/reports/texts.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { sendExpected } from '../../api/expected.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { encryptAddress, encryptFilters, type Filters, readSealedFilters } from '../parts/encrypt-filters.ts';
import {
  type Draft,
  dayField,
  disputedField,
  filterField,
  inputField,
  platformField,
  silentField,
} from '../parts/fields.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { filterAmount, filterChoice, filterDay, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import { readPlatformNames, readPlatformWords } from '../parts/read-platform-names.ts';
import { listFiles, sendList, sendWrongFilters } from '../parts/send-list.ts';
import { formTokenField, hasRole } from '../parts/send-page.ts';
import { OPERATION_CHOICES, ORDER_STATE_WORDS } from '../parts/words.ts';
import { CHARGING, chargingFields, chargingLinks } from './charging.ts';
import {
  candidateTable,
  describeFacts,
  EXPECTED,
  orderMismatches,
  readOrderPayments,
  stateBadge,
  UNDECIDED,
} from './describe-expected.ts';
import { matchForms } from './match-payment.ts';
import { newExpectedForm } from './new-expected.ts';
import { expectedTable, summedMax, totals } from './order-tables.ts';
import { expectedPages } from './show-expected.ts';

const EXPORT = `${EXPECTED.address}/export`;
const TEXT_CHARS_MAX = 200;
const UNDECIDED_SHOWN = 10;

const query = z.object({
  state: filterChoice(EXPECTED_STATES),
  operation: filterChoice(OPERATIONS),
  source: filterText(TEXT_CHARS_MAX),
  number: filterText(TEXT_CHARS_MAX),
  reference: filterText(TEXT_CHARS_MAX),
  name: filterText(TEXT_CHARS_MAX),
  document: filterText(TEXT_CHARS_MAX),
  amount: filterAmount,
  platform: filterText(TEXT_CHARS_MAX),
  due_from: filterDay,
  due_to: filterDay,
  disputed: filterChoice(['true']),
  silent: filterChoice(['true']),
  ...CHARGING,
});

/** The pages of expected payments. @param reading whose statements are limited in time. */
export function expectedSection(context: Context, reading: Context): Router {
  const router = createRouter();
  // before the page of one, whose address has any name
  router.use(matchForms(context));
  router.use([newExpectedForm(context), expectedListPages(reading), expectedExport(context), expectedPages(context)]);
  return router;
}

/** The list of expected payments with its totals by state, and those about which a person may decide. */
function expectedListPages(context: Context): Router {
  const router = createRouter();
  const list = listOf(context);
  router.all(EXPECTED.address, encryptFilters(context, list));
  router.get(EXPECTED.address, async (request, response) => {
    const { filters: filter, draft, given } = readSealedFilters(context, request, list);
    if (filter === undefined) {
      await list.refuse(request, response, draft);
      return;
    }
    const { rows, next } = await readListPage(context, expectedPayments, request, response, { filter, via: 'console' });
    const { cursor: _, limit: __, ...filters } = given;
    const addressOf = (path: string, more: Filters = {}): string =>
      encryptAddress(context, request, path, { ...filters, ...more });
    const names = await readPlatformNames(context, response);
    const newestMax = summedMax(filter);
    const found = await limitToCaller(context, getCaller(response), filter);
    const sums = await sumExpected(context, found, newestMax);
    const actions =
      hasRole(response, ...putOne.roles) &&
      html`<p class="actions">${buttonLink(`${EXPECTED.address}/new`, t('Novo pedido'))}${buttonLink('/balances/imports?kind=expected', t('Importar um arquivo'))}</p>`;
    const file = rows.length > 0 && listFiles((format) => addressOf(EXPORT, { format }));
    sendList(request, response, {
      ...EXPECTED,
      tabs: tabs(EXPECTED.address),
      lead: html`${await disputes(context)}${actions}${sums.length > 0 && totals(sums, { newestMax, addressOf: (more) => addressOf(EXPECTED.address, more) })}${chargingLinks(EXPECTED.address, filter.alike)}${file}`,
      filters: { ...(await form(context, response, draft)), areSet: isFiltered(filter) },
      rows: html`${expectedTable(rows, names)}${rows.length === 0 && nearestDue(await findNearestDue(context, found), (due) => addressOf(EXPECTED.address, due))}`,
      next,
    });
  });
  router.get(UNDECIDED.address, async (request, response) => {
    const { filters: days, draft } = readFilters(request.query, query.pick({ due_from: true, due_to: true }));
    const filters = { fields: dueFields(draft), areSet: days !== undefined && isFiltered(days) };
    const lead = html`<p class="lead">${t('O Confere não desempata: escolha o pagamento de cada pedido, ou deixe como está.')}</p>${chargingLinks(EXPECTED.address)}${await disputes(context)}`;
    const here = { ...UNDECIDED, tabs: tabs(UNDECIDED.address) };
    if (days === undefined) {
      sendWrongFilters(request, response, { ...here, lead, filters });
      return;
    }
    const given = { filter: { undecided: true, ...days }, via: 'console', limitDefault: UNDECIDED_SHOWN } as const;
    const { rows, next } = await readListPage(context, expectedPayments, request, response, given);
    const payments = await readOrderPayments(context, response, rows);
    const names = await readPlatformNames(context, response);
    const shown = html`${rows.length === 0 && html`<p class="empty">${t('Nenhum pedido tem pagamento a casar.')}</p>`}${rows.map(
      (row) =>
        html`<section class="act"><h2><a href="${EXPECTED.address}/${row.id}">${row.number}</a> ${stateBadge(row.state)}</h2>${describeFacts(row, names)}${candidateTable(context, response, { row, payments })}</section>`,
    )}`;
    sendList(request, response, { ...here, lead, filters, rows: shown, next });
  });
  return router;
}

/** Links to the nearest months with orders, with what else the filters ask. */
function nearestDue(days: Day[], addressOf: (due: Filters) => string): Part {
  const links = days.map((day, index) => {
    const { from, to } = boundsOfMonth(monthOf(day));
    return html`${index > 0 && ','} <a href="${addressOf({ due_from: from, due_to: to })}">${formatMonth(monthOf(day))}</a>`;
  });
  return (
    days.length > 0 &&
    html`<p class="hint">${tHtml('Os meses mais próximos com pedidos que vencem neles, com os outros filtros:{links}.', { links })}</p>`
  );
}

function listOf(context: Context) {
  return {
    schema: query,
    field: 'name',
    refuse: async (request: Request, response: Response, draft: Draft) =>
      sendWrongFilters(request, response, {
        ...EXPECTED,
        tabs: tabs(EXPECTED.address),
        filters: { ...(await form(context, response, draft)), areSet: true },
      }),
  };
}

/** The file of what the list's filters find, in the form of its import. */
function expectedExport(context: Context): Router {
  const router = createRouter();
  const list = listOf(context);
  router.get(EXPORT, encryptFilters(context, list), async (request, response) => {
    const { filters: filter, draft } = readSealedFilters(context, request, list);
    if (filter === undefined) await list.refuse(request, response, draft);
    else {
      const wanted = { filter, caller: getCaller(response), via: 'console' } as const;
      await sendExpected(
        context,
        response,
        wanted,
        EXPORT_FORMATS.find((one) => one === request.query.format),
      );
    }
  });
  return router;
}

async function form(context: Context, response: Response, draft: Draft) {
  const fields = [
    filterField(draft, { name: 'state', label: 'Estado', words: ORDER_STATE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'operation', label: 'Operação', words: OPERATION_CHOICES, any: 'Todas' }),
    inputField(draft, { name: 'source', label: 'Origem' }),
    inputField(draft, { name: 'number', label: 'Número', hint: t('O número inteiro.') }),
    inputField(draft, { name: 'reference', label: 'Referência', hint: t('A referência inteira.') }),
    inputField(draft, { name: 'name', label: 'Nome' }),
    inputField(draft, { name: 'document', label: 'Documento' }),
    inputField(draft, { name: 'amount', label: 'Valor' }),
    platformField(draft, await readPlatformWords(context, response)),
    ...dueFields(draft),
    disputedField(draft),
    silentField(draft),
    ...chargingFields(draft),
  ];
  return { fields, token: formTokenField(response) };
}

function dueFields(draft: Draft): Html[] {
  return [
    dayField(draft, { name: 'due_from', label: 'Vence de' }),
    dayField(draft, { name: 'due_to', label: 'Vence até' }),
  ];
}

async function disputes({ db }: Context): Promise<Part> {
  return orderMismatches(await readOpenMismatches(db));
}

function tabs(here: string): Html {
  return html`<nav class="tabs" aria-label="${t('Pedidos')}">${[EXPECTED, UNDECIDED].map(
    ({ address, title }) => html`<a href="${address}"${address === here && html` aria-current="page"`}>${t(title)}</a>`,
  )}</nav>`;
}
