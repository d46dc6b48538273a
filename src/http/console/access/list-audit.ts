import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { addDays } from '../../../domain/calendar.ts';
import { auditRows } from '../../../operations/access/audit.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { dayField, inputField } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { filterDay, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';

const text = filterText(128);
const query = z.object({ actor: text, action: text, target: text, from: filterDay, to: filterDay });
const LIST = { title: 'Auditoria', address: '/audit' } as const;

/** The audit log, for admins. */
export function auditPages(context: Context): Router {
  return createRouter().get('/audit', requireRole(...auditRows.roles), async (request, response) => {
    const { filters, draft } = readFilters(request.query, query);
    const fields = [
      inputField(draft, { name: 'actor', label: 'Quem (id)' }),
      inputField(draft, { name: 'action', label: 'Ação' }),
      inputField(draft, { name: 'target', label: 'Sobre' }),
      dayField(draft, { name: 'from', label: 'De' }),
      dayField(draft, { name: 'to', label: 'Até' }),
    ];
    if (filters === undefined) {
      sendWrongFilters(request, response, { ...LIST, filters: { fields, areSet: true } });
      return;
    }
    const { calendar } = context;
    const range = {
      from: filters.from === undefined ? undefined : new Date(calendar.toIso(`${filters.from} 00:00:00`)),
      // `to` includes its day
      to: filters.to === undefined ? undefined : new Date(calendar.toIso(`${addDays(filters.to, 1)} 00:00:00`)),
    };
    const given = { filter: { ...filters, ...range } };
    const { rows, next } = await readListPage(context, auditRows, request, response, given);
    const areSet = isFiltered(filters);
    const list = table({
      caption: 'Auditoria, a mais nova primeiro',
      rows,
      empty: areSet ? 'Nada com estes filtros: tire um deles.' : 'Nada até agora.',
      columns: [
        { title: 'Quando', cell: (row) => moment(calendar, row.at) },
        { title: 'Quem', cell: actorCell },
        { title: 'Ação', cell: (row) => html`<code>${row.action}</code>` },
        { title: 'Sobre', cell: (row) => html`<span class="id">${row.target}</span>` },
        { title: 'Detalhe', cell: (row) => html`<span class="long">${row.detail}</span>` },
      ],
    });
    sendList(request, response, {
      ...LIST,
      filters: { fields, areSet },
      rows: list,
      next,
    });
  });
}

/** The actor's name, if it is known, linked to all their actions, above the id. */
function actorCell({ actor, actor_name: name }: { actor: string; actor_name: string | null }): Html {
  const id = html`<span class="id">${actor}</span>`;
  return name === null ? id : html`<a href="/audit?actor=${encodeURIComponent(actor)}">${name}</a><br>${id}`;
}
