import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { MISMATCH_SEVERITY, MISMATCH_STATES, type MismatchKind } from '../../../domain/mismatch.ts';
import { listTransactionIds } from '../../../domain/person/mask-mismatch.ts';
import { listMismatches, type PresentedMismatch } from '../../../mismatches/read-mismatches.ts';
import { type OpenCause, readOpenCauses } from '../../../mismatches/read-open-causes.ts';
import { stakeOf } from '../../../mismatches/stake.ts';
import { auditShownTransactions, canSeePersonalData } from '../../access/authorize.ts';
import { maskMismatches } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { readPage } from '../../parse-page.ts';
import { t, words } from '../languages/translate.ts';
import { explainMismatch, MISMATCH_TITLES } from '../parts/explain-mismatch.ts';
import { EMPTY_VALUE, formatCount, moment, money, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, selectField, table, textField, transactionLink } from '../parts/page-components.ts';
import { isFiltered, nameFilters, parseFilters } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { MISMATCH_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';
import { settleManyForm } from './settle-mismatches.ts';

const KINDS = Object.keys(MISMATCH_SEVERITY) as [MismatchKind, ...MismatchKind[]];
const query = z.object({
  state: z
    .enum(['all', 'unresolved', ...MISMATCH_STATES], { error: () => t('estado desconhecido') })
    .default('unresolved'),
  kind: z.enum(KINDS, { error: () => t('tipo desconhecido') }).optional(),
  severity: z.enum(['medium', 'high', 'critical'], { error: () => t('gravidade desconhecida') }).optional(),
  cause: z.string().trim().max(160).optional(),
  transaction_id: z.string().trim().max(128).optional(),
  decided: z.literal('yes', { error: () => t('opção desconhecida') }).optional(),
});
const FIRST_STATES = words({ unresolved: 'Por resolver', all: 'Todos' });

const DECIDED_WORDS = words({ yes: 'Resolvidas por decisão' });

/** The list of mismatches: of the unresolved ones, grouped by cause, unless a filter says otherwise. */
export function mismatchListPages(context: Context): Router {
  const router = createRouter();
  router.get('/mismatches', async (request, response) => {
    const { transaction_id: transactionId, state: shown, decided, ...filters } = parseFilters(request.query, query);
    const state = shown === 'all' ? undefined : shown;
    const { rows: all, next } = await readPage(context, request, ({ db }, limit, after) =>
      listMismatches(db, { ...filters, state, transactionId, decided: decided === 'yes', limit, after }),
    );
    await auditShownTransactions(context, response, 'mismatches.list', {
      target: nameFilters({ ...filters, state: request.query.state, transaction_id: transactionId }),
      transactions: all.flatMap(listTransactionIds),
      via: 'console',
    });
    const rows = canSeePersonalData(response) ? all : await maskMismatches(context.db, all);
    const fields = [
      selectField({
        name: 'state',
        label: 'Estado',
        value: shown,
        words: { ...FIRST_STATES, ...MISMATCH_STATE_WORDS },
      }),
      selectField({ name: 'kind', label: 'Tipo', value: filters.kind, words: MISMATCH_TITLES, any: 'Todos' }),
      selectField({
        name: 'severity',
        label: 'Gravidade',
        value: filters.severity,
        words: SEVERITY_WORDS,
        any: 'Todas',
      }),
      selectField({ name: 'decided', label: 'Decisão', value: decided, words: DECIDED_WORDS, any: 'Todas' }),
      textField({ name: 'transaction_id', label: 'Id da transação', value: transactionId }),
    ];
    const areSet = isFiltered({ ...filters, transactionId, decided }) || shown !== 'unresolved';
    const empty = areSet ? 'Nenhuma divergência com estes filtros.' : 'Nenhuma divergência por resolver.';
    const { kind, cause } = filters;
    const hasCauses =
      (shown === 'unresolved' || shown === 'open') && transactionId === undefined && request.query.cursor === undefined;
    const causes = hasCauses ? await readOpenCauses(limitStatementTime(context.db), kind) : [];
    const lead =
      kind === undefined
        ? causes.length > 0 && causeTable(context, causes)
        : html`${explain(kind)}${hasCauses && settleManyForm(context, response, { kind, cause, causes })}`;
    sendList(request, response, {
      title: 'Divergências',
      address: '/mismatches',
      filters: { fields, areSet },
      lead,
      rows: mismatchTable(context, rows, empty),
      next,
    });
  });
  return router;
}

function causeTable(context: Context, causes: OpenCause[]): Html {
  const address = ({ kind, cause }: OpenCause): string =>
    `/mismatches?${new URLSearchParams({ kind, ...(cause === null ? {} : { cause }) }).toString()}`;
  return html`<section><h2>${t('Por causa')}</h2>${table({
    caption: 'Divergências por resolver, por causa',
    rows: causes,
    empty: '',
    columns: [
      { title: 'Causa', cell: (row) => html`<a href="${address(row)}">${explainMismatch(row.kind).title}</a>` },
      { title: 'Origem', cell: (row) => describeCause(row) },
      { title: 'Gravidade', cell: (row) => badge(SEVERITY_WORDS, row.severity) },
      { title: 'Por resolver', cell: (row) => formatCount(row.count), align: 'end' },
      { title: 'Em tratamento', cell: (row) => formatCount(row.acknowledged), align: 'end' },
      { title: 'Em jogo', cell: (row) => money(row.stakeCents), align: 'end' },
      { title: 'Desde', cell: (row) => moment(context.calendar, row.first_at) },
    ],
  })}</section><h2>${t('Uma a uma')}</h2>`;
}

/** What mismatches have in common: a run that found them, or only that they were found without one. */
function describeCause({ run_id: run, cause }: OpenCause): Html {
  if (run !== null) return html`<a href="/reconciliations/${run}">${t('conferência')} ${shortId(run)}</a>`;
  return cause === null ? EMPTY_VALUE : html`${t('fora de uma conferência')}`;
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
      { title: 'Em jogo', cell: stakeCell, align: 'end' },
      { title: 'Aberta em', cell: (row) => moment(context.calendar, row.opened_at) },
    ],
  });
}

function stakeCell(row: PresentedMismatch): Html {
  const cents = stakeOf(row);
  return cents === undefined ? EMPTY_VALUE : money(cents);
}

function transactionCell(row: PresentedMismatch): Html {
  if (row.transaction_id || !row.reference) return transactionLink(row.transaction_id || null);
  return html`<span class="long">${row.reference}</span>`;
}

function explain(kind: string): Html {
  const { title, meaning, todo } = explainMismatch(kind);
  return html`<p class="explain"><b>${title}.</b> ${meaning}. ${todo}</p>`;
}
