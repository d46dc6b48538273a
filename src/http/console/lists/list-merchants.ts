import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { type PresentedMerchant, presentMerchant } from '../../../merchants/present-merchant.ts';
import { listMerchants } from '../../../merchants/read-merchants.ts';
import { createRouter } from '../../create-router.ts';
import { parseNumberedPage, trimPage } from '../../parse-page.ts';
import { EMPTY_VALUE, formatCount, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, pager, table } from '../parts/page-components.ts';
import { encodeCursor } from '../parts/parse-filters.ts';
import { type CallbackCounts, readCallbackCounts } from '../parts/read-callback-counts.ts';
import { sendPage } from '../parts/send-page.ts';
import { MERCHANT_STATE_WORDS } from '../parts/words.ts';

/** The list of merchants, with what each is still to be told. */
export function merchantListPages(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/merchants', async (request, response) => {
    const { limit, after = 0 } = parseNumberedPage(request);
    const { rows, last } = trimPage(await listMerchants(reading.db, { limit: limit + 1, after }), limit);
    const counts = await readCallbackCounts(context.db);
    const list = table({
      caption: 'Lojistas, na ordem em que entraram',
      rows: rows.map(presentMerchant),
      empty: 'Nenhum lojista recebe callbacks: quem administra adiciona um com confere merchants add.',
      columns: [
        { title: 'Lojista', cell: (row) => html`<a href="/merchants/${row.id}">${row.name}</a>` },
        { title: 'Estado', cell: (row) => merchantBadges(row) },
        { title: 'Pendentes', cell: (row) => countCell(counts, row.id, 'pending'), align: 'end' },
        { title: 'Retidos', cell: (row) => countCell(counts, row.id, 'held'), align: 'end' },
        { title: 'Falhos', cell: (row) => countCell(counts, row.id, 'failed'), align: 'end' },
        { title: 'Falhando desde', cell: (row) => moment(context.calendar, row.failing_since) },
      ],
    });
    const body = html`<h1>Lojistas</h1>${list}${pager('/merchants', request.query, encodeCursor(last?.seq))}`;
    sendPage(request, response, { title: 'Lojistas', body });
  });
  return router;
}

/** A merchant's state, and whether its callbacks are held because it keeps failing. */
export function merchantBadges(merchant: PresentedMerchant): Html {
  return html`${badge(MERCHANT_STATE_WORDS, merchant.state)}${
    merchant.breaker === 'open' && html` ${badge({ held: 'Disjuntor aberto' }, 'held')}`
  }`;
}

function countCell(counts: CallbackCounts, merchant: string, state: 'pending' | 'held' | 'failed'): Html {
  const count = counts.get(merchant)?.[state] ?? 0;
  return count === 0
    ? EMPTY_VALUE
    : html`<a href="/callbacks?merchant=${merchant}&amp;state=${state}">${formatCount(count)}</a>`;
}
