import type { Response, Router } from 'express';
import type { Context } from '../../context.ts';
import { renderExpectedCsv, writeExpectedWorkbook } from '../../operations/expected/export-expected.ts';
import { expectedFilters } from '../../operations/expected/read-expected.ts';
import { FORMAT_FACTS } from '../../reports/render/formats/formats.ts';
import type { ExportFormat } from '../../reports/serve/export-found.ts';
import { getCaller, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';
import { sendChunks, sendFile, signalOf } from '../send-file.ts';

/** The list of expected payments as CSV: a file, written while it is read. */
export function expectedRoutes(context: Context): Router {
  return createRouter().get('/expected-payments.csv', requireRole('viewer'), async (request, response) => {
    const filter = parseQuery(request, expectedFilters);
    await sendExpected(context, response, { filter, caller: getCaller(response) });
  });
}

/** Sends the file of what a filter finds, as the caller may see it; a CSV while it is read. */
export async function sendExpected(
  context: Context,
  response: Response,
  wanted: Parameters<typeof renderExpectedCsv>[1],
  format: ExportFormat = 'csv',
): Promise<void> {
  const name = wanted.via && context.config.REPORT_LOCALE === 'pt-BR' ? 'pedidos' : 'expected-payments';
  const headers = {
    'content-disposition': `attachment; filename="${name}.${format}"`,
    'content-type': FORMAT_FACTS[format].contentType,
  };
  if (format === 'csv') return await sendChunks(response, renderExpectedCsv(context, wanted), headers);
  const signal = signalOf(response);
  await writeExpectedWorkbook(context, { ...wanted, signal }, (file) => sendFile(response, file, headers));
}
