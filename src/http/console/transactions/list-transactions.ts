import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { append } from '../../../domain/lists.ts';
import { parseSum } from '../../../domain/money.ts';
import type { Operation } from '../../../domain/statuses.ts';
import { listExpected } from '../../../expected/read/list-expected.ts';
import { readSearchTotal, type SearchTotal, sumByOutcome } from '../../../ledger/read/read-search-total.ts';
import { isTooWide, SEARCH_MS_MAX, searchTransactions } from '../../../ledger/read/search-transactions.ts';
import { readFound } from '../../../operations/books/transactions.ts';
import { type Label, plural, t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage } from '../../parse-page.ts';
import { stateBadge } from '../expected/describe-expected.ts';
import { readMerchantWords } from '../merchants/list-merchants.ts';
import { encryptAddress, encryptFilters, type Filters, readSealedFilters } from '../parts/encrypt-filters.ts';
import type { Draft } from '../parts/fields.ts';
import { formatDay } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { isFiltered, SEARCH_BOX } from '../parts/parse-filters.ts';
import { readPlatformNames, readPlatformWords } from '../parts/read-platform-names.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { formTokenField } from '../parts/send-page.ts';
import { sendExport } from './export-transactions.ts';
import { foundTable } from './present-found.ts';
import { type Asked, authorizeFound, type Search, searchOf, searchSchema, splitBox } from './read-search.ts';
import {
  type Choices,
  renderChips,
  renderExports,
  renderHelp,
  renderReadings,
  renderTotal,
  searchFields,
} from './render-search.ts';
import { PROOF } from './show-proof.ts';

const LIST = { title: 'Transações', address: '/transactions' } as const;
const EXPORT = '/transactions/export';
const KEYED_MAX = 5;
const ORDERS_SHOWN_MAX = 5;
/** Written before the number of an order. */
const ORDER_WORD = /^(?:pedido|order|#)\s*/i;

/** The search for transactions. Roles that may see personal data see it, which is audited; viewers see it masked. */
export function transactionListPages(context: Context): Router {
  const router = createRouter();
  const refuse = (request: Request, response: Response, draft: Draft) => sendWrong(context, request, response, draft);
  const list = { schema: searchSchema, field: SEARCH_BOX, refuse };
  router.all([LIST.address, EXPORT], encryptFilters(context, list));
  for (const [address, send] of [
    [LIST.address, sendFound],
    [EXPORT, sendExport],
  ] as const) {
    router.get(address, async (request, response) => {
      const { filters, draft, given } = readSealedFilters(context, request, list);
      try {
        if (filters === undefined) await refuse(request, response, draft);
        else await send(context, request, response, { filters, draft, given: withoutPage(given) });
      } catch (error) {
        if (response.headersSent || !isTooWide(error)) throw error;
        const fault = t('Escolha menos dias: esta busca leva mais de {ms} ms.', { ms: SEARCH_MS_MAX });
        await refuse(request, response, { ...draft, faults: { from: fault, to: fault } });
      }
    });
  }
  return router;
}

async function sendFound(context: Context, request: Request, response: Response, asked: Asked): Promise<void> {
  const { filters, draft, given } = asked;
  const addressOf = (other: Filters): string => encryptAddress(context, request, LIST.address, other);
  const today = context.calendar.dayOf(context.clock.now());
  const split = splitBox(filters, today);
  if (split !== undefined) {
    const { as: _, ...others } = given;
    const as = filters.as === undefined && split.q !== undefined ? await findKeyKind(context, filters) : undefined;
    response.redirect(303, addressOf({ ...others, ...(as === undefined ? split : { as }) }));
    return;
  }
  const full = canSeePersonalData(response);
  const search = searchOf(response, filters);
  const { limit, after } = parsePage(request);
  await authorizeFound(context, response, search);
  const by = { caller: getCaller(response), named: search.named, target: search.target, via: 'console' };
  const { rows: found, next } = await readFound(context, { ...search.query, limit, after }, by);
  const key = after === undefined ? findKey(search, filters) : undefined;
  const exact = key === undefined ? [] : await readExact(context, { search, key, by }, { found, isWhole: !next });
  const shown =
    exact.length === 0 ? found : [...exact, ...found.filter(({ id }) => exact.every((one) => one.id !== id))];
  const isLed = exact.length > 0 && exact.length < shown.length;
  const total =
    next === undefined && after === undefined
      ? sumShown(shown)
      : await readSearchTotal(context.db, context.keys, search.query);
  const choices = await readChoices(context, response);
  const orders = await findOrders(context, filters);
  const isCut = filters.inside !== undefined && next !== undefined && found.length < limit;
  const exportOf = (other: Filters): string => encryptAddress(context, request, EXPORT, other);
  sendList(request, response, {
    ...LIST,
    filters: { ...form(response, draft, choices), areSet: isFiltered(filters) },
    lead: html`<div class="about">${renderChips(given, choices, { addressOf, today })}${renderReadings(search.readings, given, { addressOf, today, full })}${renderOrders(orders)}${shown.length + orders.length === 0 && after === undefined && renderHelp(search.readings, given, { addressOf, today })}
${shown.length > 0 && html`${renderTotal(total, filters.from === filters.to ? filters.from : undefined)}${renderExports(given, exportOf, full)}`}${isCut && html`<p class="notice">${t('O tempo desta busca acabou em {day}: ela continua na próxima página.', { day: formatDay(next.slice(0, 10)) })}</p>`}${isLed && html`<p class="hint">${t('Primeiro, o que tem exatamente este texto.')}</p>`}<p class="hint"><a href="${PROOF.address}">${t(PROOF.title)}</a></p></div>`,
    rows: foundTable(context, shown, {
      names: await readPlatformNames(context, response),
      empty: sayEmpty(filters, orders.length),
    }),
    next,
  });
}

type Found = Awaited<ReturnType<typeof readFound>>['rows'];

/** The text of the box, where it is searched for as a whole reference or extra and as something wider too. */
function findKey({ readings }: Search, { q = '' }: Asked['filters']): string | undefined {
  const isWider = readings.some(({ kind }) => kind !== 'reference' && kind !== 'extra');
  return isWider && readings.some(({ kind }) => kind === 'reference') ? q.trim() : undefined;
}

/** Reads what has the text as its whole reference or extra: it is shown first, on the first page, and where its time puts it. */
async function readExact(
  context: Context,
  { search, key, by }: { search: Search; key: string; by: Parameters<typeof readFound>[2] },
  { found, isWhole }: { found: Found; isWhole: boolean },
): Promise<Found> {
  const exact = found.filter(({ reference, extra }) => reference === key || extra === key);
  if (exact.length > 0 || isWhole) return exact;
  const anyOf = [{ reference: key }, { extra: key }];
  return (await readFound(context, { ...search.query, anyOf, limit: KEYED_MAX, after: undefined }, by)).rows;
}

function sayEmpty(filters: Asked['filters'], orders: number): Label {
  if (orders > 0)
    return plural(
      orders,
      'Nenhuma transação com isto; {n} pedido, acima.',
      'Nenhuma transação com isto; {n} pedidos, acima.',
    );
  const { as: _, by: __, ...set } = filters;
  if (Object.values(set).filter((one) => one !== undefined).length === 1) return 'Nenhuma transação assim.';
  return isFiltered(filters)
    ? 'Nenhuma transação com estes filtros: tire um deles.'
    : 'O razão ainda não tem transações: elas entram com a primeira conferência ou o primeiro webhook.';
}

/** The reading under which the whole text of the box is known: a reference, an extra or the number of an order may hold a day. */
async function findKeyKind(context: Context, { q = '' }: Asked['filters']) {
  const text = q.trim();
  const query = { anyOf: [{ reference: text }, { extra: text }], by: 'created', limit: KEYED_MAX } as const;
  const { transactions } = await searchTransactions(limitReads(context).db, context.keys, query);
  if (transactions.some(({ reference }) => reference === text)) return 'reference';
  if (transactions.length > 0) return 'extra';
  return (await findOrders(context, { q })).length > 0 ? 'reference' : undefined;
}

type Orders = Awaited<ReturnType<typeof listExpected>>;

/** Finds the orders whose number stands in the box, with or without the word before it. */
async function findOrders(context: Context, { q = '' }: Asked['filters']): Promise<Orders> {
  const typed = q.trim();
  const found: Orders = [];
  if (typed === '') return found;
  for (const number of new Set([typed, typed.replace(ORDER_WORD, '')]))
    append(found, await listExpected(limitReads(context), ORDERS_SHOWN_MAX, undefined, { number }));
  return found;
}

function renderOrders(found: Orders): Html | undefined {
  if (found.length === 0) return undefined;
  const links = found.map((one) => html` <a href="/expected/${one.id}">${one.number}</a> ${stateBadge(one.state)}`);
  return html`<p class="notice">${t('Pedido com este número:')}${links}</p>`;
}

async function sendWrong(context: Context, request: Request, response: Response, draft: Draft): Promise<void> {
  const choices = await readChoices(context, response);
  sendWrongFilters(request, response, { ...LIST, filters: { ...form(response, draft, choices), areSet: true } });
}

function form(response: Response, draft: Draft, choices: Choices) {
  const fields = searchFields(draft, choices, canSeePersonalData(response));
  return { fields, token: formTokenField(response) };
}

async function readChoices(context: Context, response: Response): Promise<Choices> {
  const reading = limitReads(context);
  const platforms = await readPlatformWords(reading, response);
  return { platforms, merchants: await readMerchantWords(reading, response) };
}

/** The total of a search whose only page is shown. */
function sumShown(shown: { operation: Operation; status: string; amount: string }[]): SearchTotal {
  const cents = sumByOutcome(shown.map((one) => ({ ...one, cents: parseSum(one.amount) ?? 0n })));
  return { count: shown.length, isMore: false, cents };
}

/** Filters alone: the place in the list and the file's format do not lead to another search. */
function withoutPage({ cursor: _, limit: __, done: ___, format: ____, ...filters }: Filters): Filters {
  return filters;
}
