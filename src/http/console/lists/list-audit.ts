import type { Router } from 'express';
import { z } from 'zod';
import { listAudit } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { addDays, isDay } from '../../../domain/calendar.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parseNumberedPage, trimPage } from '../../parse-page.ts';
import { moment } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { dayField, filterForm, pager, table, textField } from '../parts/page-components.ts';
import { encodeCursor, isFiltered, parseFilters } from '../parts/parse-filters.ts';
import { sendPage } from '../parts/send-page.ts';

const text = z.string().trim().max(128).optional();
const day = z.string().refine(isDay, 'não é um dia').optional();
const query = z.object({ actor: text, action: text, target: text, from: day, to: day });

/** The audit, for whoever administers. */
export function auditPages(context: Context): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  router.get('/audit', requireRole('admin'), async (request, response) => {
    const filters = parseFilters(request.query, query);
    const { limit, after: before } = parseNumberedPage(request);
    const { calendar } = context;
    const range = {
      from: filters.from === undefined ? undefined : new Date(calendar.toIso(`${filters.from} 00:00:00`)),
      // the last day is included
      to: filters.to === undefined ? undefined : new Date(calendar.toIso(`${addDays(filters.to, 1)} 00:00:00`)),
    };
    const found = await listAudit(reading.db, { ...filters, ...range }, { limit: limit + 1, before });
    const { rows, last } = trimPage(found, limit);
    const fields = [
      textField({ name: 'actor', label: 'Quem (id do token)', value: filters.actor }),
      textField({ name: 'action', label: 'Ação', value: filters.action }),
      textField({ name: 'target', label: 'Sobre', value: filters.target }),
      dayField({ name: 'from', label: 'De', value: filters.from }),
      dayField({ name: 'to', label: 'Até', value: filters.to }),
    ];
    const list = table({
      caption: 'Auditoria, a mais nova primeiro',
      rows,
      empty: isFiltered(filters) ? 'Nada com estes filtros.' : 'Nada até agora.',
      columns: [
        { title: 'Quando', cell: (row) => moment(calendar, row.at) },
        { title: 'Quem', cell: (row) => html`<span class="id">${row.actor}</span>` },
        { title: 'Ação', cell: (row) => html`<code>${row.action}</code>` },
        { title: 'Sobre', cell: (row) => html`<span class="id">${row.target}</span>` },
        { title: 'Detalhe', cell: (row) => row.detail },
      ],
    });
    const body = html`<h1>Auditoria</h1>
${filterForm('/audit', fields, isFiltered(filters))}
${list}
${pager('/audit', request.query, encodeCursor(last?.seq))}`;
    sendPage(request, response, { title: 'Auditoria', body });
  });
  return router;
}
