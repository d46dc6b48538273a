import type { Day } from '../../../domain/calendar.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { describeSaid, type Said } from '../../../texts/messages.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatDay, shortId } from './format.ts';
import { type Html, html, type Part } from './html.ts';

export type TableColumn<Row> = { title: Label; cell: (row: Row) => Part; align?: 'end' };

/**
 * A table that a phone shows as cards. It repeats the roles, because a browser drops the implicit ones once CSS changes
 * the layout of a table.
 */
export function table<Row>(content: { caption: Label; columns: TableColumn<Row>[]; rows: Row[]; empty: Label }): Html {
  const { caption, rows } = content;
  const columns = content.columns.map((column) => ({ ...column, title: translate(column.title) }));
  if (rows.length === 0) return html`<p class="empty">${translate(content.empty)}</p>`;
  const kind = (column: TableColumn<Row>): Part => column.align === 'end' && html` class="end"`;
  return html`<div class="sheet"><table role="table"><caption class="unseen">${translate(caption)}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    (column) => html`<th role="columnheader" scope="col"${kind(column)}>${column.title}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row">${columns.map(
        (column) =>
          html`<td role="cell" data-label="${column.title}"${kind(column)}><div>${column.cell(row)}</div></td>`,
      )}</tr>`,
  )}</tbody></table></div>`;
}

/** Renders messages in the language of the request; a text that only English has is marked as English. */
export function say(said: Said): Html {
  return typeof said === 'string' ? html`<span lang="en">${said}</span>` : html`${describeSaid(said, language())}`;
}

/** A state as a coloured label. Its text names the state, not only its colour. */
export function badge(words: Record<string, string>, name: string): Html {
  return html`<span class="badge is-${name.replace(/[^a-z_]/g, '')}">${describeCode(words, name)}</span>`;
}

/** A list of names and values; empty values are left out. */
export function facts(list: (readonly [Label, Part])[]): Html {
  const shown = list.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${translate(name)}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Facts that only a technician asks for, such as hashes and ids of ours: closed, and printed once they are opened. */
export function technical(list: Parameters<typeof facts>[0]): Html {
  return html`<details class="numbers"><summary>${t('Detalhes técnicos')}</summary>${facts(list)}</details>`;
}

/** A link to the page of a transaction. @param id null: there is none to link to. */
export function transactionLink(id: string | null): Html {
  return id === null ? EMPTY_VALUE : html`<a href="/transactions/${encodeURIComponent(id)}">${shortId(id)}</a>`;
}

/** A day, as a link to the page of its report. @param query of the link. */
export function dayLink(day: Day, query = ''): Html {
  return html`<a href="/reports/${day}${query}">${formatDay(day)}</a>`;
}

/** A link to a form, in the form of a button. */
export function buttonLink(address: string, text: Part): Html {
  return html`<a class="button" href="${address}">${text}</a>`;
}

/** A whole id; a script adds a button that copies it. */
export function idText(id: string): Html {
  return html`<span class="id" data-copy="${id}">${id}</span>`;
}

/**
 * The form with a list's filters. It is sent by GET, so that a search can be bookmarked and shared.
 * @param formToken posts the form instead, because one of its filters may name a person.
 */
export function filterForm(address: string, fields: Part, isFiltered: boolean, formToken?: Html): Html {
  return html`<form class="filters" method="${formToken ? 'post' : 'get'}" action="${address}" role="search" aria-label="${t('Filtros')}">${formToken}${fields}
<div class="actions"><button>${t('Buscar')}</button>${isFiltered && html`<a href="${address}">${t('Limpar')}</a>`}</div></form>`;
}

/** Links to the next page and to the first one, with the current filters. */
export function pager(
  address: string,
  query: Record<string, unknown>,
  nextCursor: string | undefined,
): Html | undefined {
  const isFirst = query.cursor === undefined || query.cursor === '';
  if (isFirst && nextCursor === undefined) return undefined;
  return html`<nav class="pager" aria-label="${t('Páginas')}">${
    !isFirst && html`<a href="${addressOf(address, query, undefined)}">${t('Voltar ao início')}</a>`
  }${nextCursor !== undefined && html`<a href="${addressOf(address, query, nextCursor)}" rel="next">${t('Próxima página')}</a>`}</nav>`;
}

function addressOf(address: string, query: Record<string, unknown>, cursor: string | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string' && value !== '' && name !== 'cursor' && name !== 'done') search.set(name, value);
  }
  if (cursor !== undefined) search.set('cursor', cursor);
  return search.size === 0 ? address : `${address}?${search.toString()}`;
}
