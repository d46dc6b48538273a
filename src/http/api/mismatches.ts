import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { decisionFilters, renderDecisionWorkbook } from '../../operations/export-mismatches.ts';
import { locale } from '../../operations/fields.ts';
import { getCaller, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';
import { sendTemplate } from './imports/imports.ts';

export const decisionQuerySchema = decisionFilters.extend({ locale: locale.optional() });

/** The open mismatches as a workbook, which comes back as an import of decisions. */
export function mismatchRoutes(context: Context): Router {
  return createRouter().get('/mismatches.xlsx', requireRole('viewer'), async (request, response) => {
    const { locale: language = context.config.REPORT_LOCALE, ...filter } = parseQuery(request, decisionQuerySchema);
    const template = await renderDecisionWorkbook(context, { filter, language, caller: getCaller(response) });
    sendTemplate(response, { kind: 'decisions', format: 'xlsx', template });
  });
}
