import type { Response, Router } from 'express';
import type { Context } from '../../context.ts';
import { expectedFilters } from '../../operations/expected.ts';
import { renderExpectedCsv } from '../../operations/export-expected.ts';
import { getCaller, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';
import { sendChunks } from '../send-file.ts';

/** The list of expected payments as CSV: a file, written while it is read. */
export function expectedRoutes(context: Context): Router {
  return createRouter().get('/expected-payments.csv', requireRole('viewer'), async (request, response) => {
    const filter = parseQuery(request, expectedFilters);
    await sendExpectedCsv(context, response, { filter, caller: getCaller(response) });
  });
}

/** Sends the file of what a filter finds, as the caller may see it, while it is read. */
export async function sendExpectedCsv(
  context: Context,
  response: Response,
  wanted: Parameters<typeof renderExpectedCsv>[1],
): Promise<void> {
  const name = wanted.via && context.config.REPORT_LOCALE === 'pt-BR' ? 'pedidos' : 'expected-payments';
  await sendChunks(response, renderExpectedCsv(context, wanted), {
    'content-disposition': `attachment; filename="${name}.csv"`,
    'content-type': 'text/csv; charset=utf-8',
  });
}
