import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { isDay } from '../../../domain/calendar.ts';
import { formatAmount, parseAmount } from '../../../domain/money.ts';
import { foldName, normalizeDocument } from '../../../domain/person/fold-person.ts';
import { type LedgerTransaction, maskTransaction, presentTransaction } from '../../../domain/present-transaction.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { searchTransactions } from '../../../ledger/read/search-transactions.ts';
import { auditShownTransactions, canSeePersonalData, getCaller } from '../../access/authorize.ts';
import {
  auditWithheldMatches,
  authorizeSearch,
  describeFilters,
  formatSearchCursor,
  parseSearchCursor,
} from '../../access/authorize-search.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage } from '../../parse-page.ts';
import { decryptFilters, encryptFilters } from '../parts/encrypt-filters.ts';
import { EMPTY_VALUE, moment, moneyOf } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { badge, dayField, selectField, table, textField, transactionLink } from '../parts/page-components.ts';
import { isFiltered, parseFilters } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { formTokenField } from '../parts/send-page.ts';
import { describeCode, OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';

const text = z.string().trim().min(1).max(512).optional();
const day = z.string().refine(isDay, 'deve ser um dia').optional();
const query = z.object({
  id: text,
  reference: text,
  extra: text,
  e2e_id: text,
  document: text.refine((value) => value === undefined || normalizeDocument(value) !== null, 'deve ter dígitos'),
  name: text.refine((value) => value === undefined || foldName(value).length > 1, 'deve ter duas letras ou mais'),
  amount: z
    .string()
    .trim()
    .transform((value) => parseAmount(value.includes(',') ? value.replace(/\./g, '').replace(',', '.') : value))
    .refine((cents) => cents !== undefined, 'deve ser um valor: 1.234,56')
    .optional(),
  status: text,
  operation: z.enum(OPERATIONS, 'deve ser cashin ou cashout').optional(),
  platform: text,
  from: day,
  to: day,
  by: z.enum(['created', 'status'], 'deve ser created ou status').optional(),
});
type Filters = z.infer<typeof query>;

/** The search for transactions. Roles that may see personal data see it, which is audited; viewers see it masked. */
export function transactionListPages(context: Context): Router {
  const router = createRouter();
  router.all('/transactions', encryptFilters(context, query));
  router.get('/transactions', async (request, response) => {
    const { by, ...filters } = parseFilters(decryptFilters(context, request), query);
    const { e2e_id: e2eId, amount: amountCents, ...rest } = filters;
    const { limit, after } = parsePage(request);
    const full = canSeePersonalData(response);
    await authorizeSearch(context, getCaller(response), filters);
    const wanted = { ...rest, e2eId, amountCents, by: by ?? 'created', limit, after: parseSearchCursor(after) };
    const { transactions, next } = await searchTransactions(context.db, context.keys, wanted);
    const shown = transactions.map((one) => presentForCaller(context, one, full));
    await auditShownTransactions(context, response, 'transactions.list', {
      target: describeFilters({ ...filters, by }),
      transactions: shown.map(({ id }) => id),
      via: 'console',
    });
    await auditWithheldMatches(context, getCaller(response), filters, shown);
    const given = { ...filters, by };
    sendList(request, response, {
      title: 'Transações',
      address: '/transactions',
      filters: { fields: fields(given, full), areSet: isFiltered(given), token: formTokenField(response) },
      rows: list(context, shown, isFiltered(filters)),
      next: formatSearchCursor(next),
    });
  });
  return router;
}

/** Presents a transaction, masked for viewers. @param full whether the caller may see personal data. */
export function presentForCaller(context: Context, transaction: LedgerTransaction, full: boolean) {
  const presented = presentTransaction(transaction, context.calendar);
  return full ? presented : maskTransaction(presented, transaction);
}

function fields(filters: Filters, full: boolean) {
  return [
    textField({ name: 'id', label: 'Id', value: filters.id }),
    textField({ name: 'reference', label: 'Referência', value: filters.reference }),
    textField({ name: 'extra', label: 'Extra', value: filters.extra }),
    textField({ name: 'e2e_id', label: 'Id E2E', value: filters.e2e_id }),
    textField({ name: 'document', label: 'CPF ou CNPJ', value: filters.document }),
    // a viewer could guess a masked name letter by letter
    ...(full ? [textField({ name: 'name', label: 'Nome começa com', value: filters.name })] : []),
    textField({
      name: 'amount',
      label: 'Valor',
      value: filters.amount === undefined ? undefined : formatAmount(filters.amount).replace('.', ','),
    }),
    selectField({ name: 'status', label: 'Situação', value: filters.status, words: STATUS_WORDS, any: 'Todas' }),
    selectField({
      name: 'operation',
      label: 'Operação',
      value: filters.operation,
      words: OPERATION_WORDS,
      any: 'Todas',
    }),
    textField({ name: 'platform', label: 'Plataforma', value: filters.platform }),
    dayField({ name: 'from', label: 'De', value: filters.from }),
    dayField({ name: 'to', label: 'Até', value: filters.to }),
    selectField({ name: 'by', label: 'Dia da', value: filters.by, words: { created: 'Criação', status: 'Situação' } }),
  ];
}

function list(context: Context, rows: ReturnType<typeof presentForCaller>[], filtered: boolean) {
  return table({
    caption: 'Transações, as mais novas primeiro',
    rows,
    empty: filtered ? 'Nenhuma transação com estes filtros.' : 'O razão ainda não tem transações.',
    columns: [
      { title: 'Transação', cell: (row) => transactionLink(row.id) },
      { title: 'Criada em', cell: (row) => moment(context.calendar, row.created_at) },
      { title: 'Operação', cell: (row) => describeCode(OPERATION_WORDS, row.operation) },
      { title: 'Situação', cell: (row) => badge(STATUS_WORDS, row.status) },
      {
        title: 'Referência',
        cell: (row) => (row.reference ? html`<span class="long">${row.reference}</span>` : EMPTY_VALUE),
      },
      { title: 'Nome', cell: (row) => row.name ?? EMPTY_VALUE },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
    ],
  });
}
