import type { Request, Response } from 'express';
import { EXPORT_FORMATS, type ExportFormat } from '../../../reports/serve/export-found.ts';
import { type Label, t, translate, untranslated } from '../../../texts/translate.ts';
import { encodeCursor } from '../../parse-page.ts';
import { type Html, html, type Part } from './html.ts';
import { filterForm, pager } from './page-components.ts';
import { sendPage } from './send-page.ts';

export type List = {
  title: Label;
  /** The address of the list, without its query. */
  address: string;
  /** The filters' form; `token` where it is posted, because a filter of it may name a person. */
  filters?: { fields: Part; areSet: boolean; token?: Html };
  /** The pages beside this one, below the title. */
  tabs?: Part;
  /** Between the title or the filters and the rows. */
  lead?: Part;
  rows: Part;
  /** Where the next page begins; undefined at the end. */
  next: string | number | undefined;
  status?: number;
  /** Reload the list each `refreshS` seconds. */
  refreshS?: number;
};

/** Answers with the form of a list alone, as it was filled in, and what is wrong by its field. */
export function sendWrongFilters(
  request: Request,
  response: Response,
  list: Pick<List, 'title' | 'address' | 'tabs' | 'lead'> & { filters: NonNullable<List['filters']> },
): void {
  const filters = { ...list.filters, areSet: true };
  sendList(request, response, { ...list, filters, rows: undefined, next: undefined, status: 422 });
}

/** Answers with a list's page: its title, filters and rows, and links to its other pages. */
export function sendList(request: Request, response: Response, list: List): void {
  const { address, filters, tabs, lead, rows, next, status, refreshS } = list;
  const title = translate(list.title);
  const body = html`<h1>${title}</h1>
${tabs}
${filters && filterForm(address, filters.fields, filters.areSet, filters.token)}
${lead}
${rows}
${pager(address, request.query, encodeCursor(next))}`;
  sendPage(request, response, {
    title,
    body,
    ...(status === undefined ? {} : { status }),
    ...(refreshS === undefined ? {} : { refreshS, isTypedIn: true }),
  });
}

/** Links to the files of what a list shows. @param limit what is said beside them. */
export function listFiles(addressOf: (format: ExportFormat) => string, limit?: Part): Html {
  const links = EXPORT_FORMATS.map(
    (format) =>
      html`<a href="${addressOf(format)}" download>${format === 'csv' ? untranslated('CSV') : t('Planilha')}</a> `,
  );
  return html`<p class="hint">${t('Baixar o que se vê, em todas as páginas:')} <span class="files">${links}</span> ${limit}</p>`;
}
