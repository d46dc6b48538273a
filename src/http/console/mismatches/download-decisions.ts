import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { findImportKind } from '../../../imports/import-kinds.ts';
import { DECISIONS_MAX } from '../../../imports/kinds/decisions.ts';
import { decisionFilters, renderDecisionWorkbook } from '../../../operations/export-mismatches.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { sendTemplate } from '../../api/imports/imports.ts';
import { createRouter } from '../../create-router.ts';
import { parseQuery } from '../../parse-request.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { nameWhoMay } from '../access/name-actors.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { hasRole } from '../parts/send-page.ts';

const ADDRESS = '/mismatches/decisions.xlsx';

/** The workbook in which people decide; it comes back on the page of imports. */
export function decisionPages(context: Context): Router {
  return createRouter().get(ADDRESS, async (request, response) => {
    const filter = parseQuery(request, decisionFilters);
    const wanted = { filter, caller: getCaller(response), language: language(), via: 'console' } as const;
    const template = await renderDecisionWorkbook(context, wanted);
    sendTemplate(response, { kind: language() === 'en' ? 'decisions' : 'decisoes', format: 'xlsx', template });
  });
}

/** The address of the workbook, with the filters of the list that it takes. */
export function linkWorkbook(filters: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const name of Object.keys(decisionFilters.shape))
    if (filters[name] !== undefined) query.set(name, filters[name]);
  return query.size === 0 ? ADDRESS : `${ADDRESS}?${query.toString()}`;
}

/** Links to the workbook, with the filters of the list that it takes, and says who sends it back. */
export async function linkDecisions(
  context: Context,
  response: Response,
  filters: Record<string, string | undefined>,
): Promise<Html> {
  const n = formatCount(DECISIONS_MAX);
  const { roles } = findImportKind('decisions');
  const maySend = hasRole(response, ...roles);
  const hint = maySend
    ? t('Decida até {n} de uma vez numa planilha: baixe-a, escolha a decisão de cada linha e envie-a de volta.', { n })
    : t('Até {n} numa planilha, para ler ou propor a decisão de cada linha. Só um operador a envia de volta.', { n });
  return html`<section class="act"><p class="hint">${hint}${await nameWhoMay(context, response, roles)}</p>
<p class="actions">${buttonLink(linkWorkbook(filters), t('Baixar para decidir (XLSX)'))}${maySend && html`<a href="${IMPORT_ADDRESS}?kind=decisions">${t('Enviar as decisões')}</a>`}</p></section>`;
}
