import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../../../domain/mismatch.ts';
import { listTransactionIds } from '../../../domain/person/mask-mismatch.ts';
import { listMismatches, type PresentedMismatch } from '../../../mismatches/read-mismatches.ts';
import { auditShownTransactions, canSeePersonalData } from '../../access/authorize.ts';
import { maskMismatches } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { readPage } from '../../parse-page.ts';
import { explainMismatch, MISMATCH_TITLES } from '../parts/explain-mismatch.ts';
import { moment, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, selectField, table, textField, transactionLink } from '../parts/page-components.ts';
import { isFiltered, nameFilters, parseFilters } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { MISMATCH_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';

const KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];
const query = z.object({
  state: z.enum(MISMATCH_STATES, 'estado desconhecido').optional(),
  kind: z.enum(KINDS, 'tipo desconhecido').optional(),
  severity: z.enum(['medium', 'high', 'critical'], 'gravidade desconhecida').optional(),
  transaction_id: z.string().trim().max(128).optional(),
});

/** The list of mismatches. */
export function mismatchListPages(context: Context): Router {
  const router = createRouter();
  router.get('/mismatches', async (request, response) => {
    const { transaction_id: transactionId, ...filters } = parseFilters(request.query, query);
    const { rows: all, next } = await readPage(context, request, ({ db }, limit, after) =>
      listMismatches(db, { ...filters, transactionId, limit, after }),
    );
    await auditShownTransactions(context, response, 'mismatches.list', {
      target: nameFilters({ ...filters, transaction_id: transactionId }),
      transactions: all.flatMap(listTransactionIds),
      via: 'console',
    });
    const rows = canSeePersonalData(response) ? all : await maskMismatches(context.db, all);
    const fields = [
      selectField({ name: 'state', label: 'Estado', value: filters.state, words: MISMATCH_STATE_WORDS, any: 'Todos' }),
      selectField({ name: 'kind', label: 'Tipo', value: filters.kind, words: MISMATCH_TITLES, any: 'Todos' }),
      selectField({
        name: 'severity',
        label: 'Gravidade',
        value: filters.severity,
        words: SEVERITY_WORDS,
        any: 'Todas',
      }),
      textField({ name: 'transaction_id', label: 'Id da transação', value: transactionId }),
    ];
    const areSet = isFiltered({ ...filters, transactionId });
    const empty = areSet ? 'Nenhuma divergência com estes filtros.' : 'Nenhuma divergência até hoje.';
    sendList(request, response, {
      title: 'Divergências',
      address: '/mismatches',
      filters: { fields, areSet },
      lead: filters.kind !== undefined && explain(filters.kind),
      rows: mismatchTable(context, rows, empty),
      next,
    });
  });
  return router;
}

/** A table of mismatches, each linked to its page. */
export function mismatchTable(context: Context, rows: PresentedMismatch[], empty = 'Nenhuma divergência.'): Html {
  return table({
    caption: 'Divergências, as mais novas primeiro',
    rows,
    empty,
    columns: [
      {
        title: 'Divergência',
        cell: (row) => html`<a href="/mismatches/${row.id}">${explainMismatch(row.kind).title}</a>`,
      },
      { title: 'Gravidade', cell: (row) => badge(SEVERITY_WORDS, row.severity) },
      { title: 'Estado', cell: (row) => badge(MISMATCH_STATE_WORDS, row.state) },
      { title: 'Transação', cell: transactionCell },
      { title: 'Em jogo', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Aberta em', cell: (row) => moment(context.calendar, row.opened_at) },
    ],
  });
}

function transactionCell(row: PresentedMismatch): Html {
  if (row.transaction_id || !row.reference) return transactionLink(row.transaction_id || null);
  return html`<span class="long">${row.reference}</span>`;
}

function explain(kind: string): Html {
  const { title, meaning, todo } = explainMismatch(kind);
  return html`<p class="explain"><b>${title}.</b> ${meaning}. ${todo}</p>`;
}
