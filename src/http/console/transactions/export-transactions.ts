import type { Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { readSearchTotal } from '../../../ledger/read/read-search-total.ts';
import { SEARCH_MS_MAX, searchTransactions } from '../../../ledger/read/search-transactions.ts';
import type { SearchCursor } from '../../../ledger/read/transaction-query.ts';
import { auditWithheldMatches } from '../../../operations/authorize-search.ts';
import { presentTransactionTo } from '../../../operations/books/transactions.ts';
import { FORMAT_FACTS } from '../../../reports/render/formats/formats.ts';
import {
  EXPORT_FORMATS,
  EXPORT_ROWS_MAX,
  type FoundRow,
  nameFoundFile,
  renderFoundCsv,
  writeFoundWorkbook,
} from '../../../reports/serve/export-found.ts';
import { mapInTurns } from '../../../runtime/take-turns.ts';
import { refuse, refuseField } from '../../../texts/refuse.ts';
import { auditShownTransactions, canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { sendChunks, sendFile, signalOf } from '../../send-file.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { type Asked, authorizeFound, type Search, searchOf } from './read-search.ts';

const PAGE_ROWS = 1_000;

/**
 * Sends what a search found as a file, masked for viewers. A CSV is sent while it is read; the audit precedes each page.
 * @throws with the headers unsent if the first page of a CSV, or any page of a workbook, fails. A later failure of a CSV
 * destroys the connection, so that no program mistakes a partial file for a complete one.
 */
export async function sendExport(context: Context, request: Request, response: Response, asked: Asked): Promise<void> {
  const format = EXPORT_FORMATS.find((one) => one === request.query.format);
  if (!format) throw refuse('export_unknown', { formats: EXPORT_FORMATS.join(' or ') });
  const search = searchOf(response, asked.filters);
  await authorizeFound(context, response, search);
  const limits = { rowsMax: EXPORT_ROWS_MAX, ms: SEARCH_MS_MAX };
  const total = await readSearchTotal(context.db, context.keys, search.query, limits);
  if (!total) throw refuseField('from', 'narrower_days');
  const gone = signalOf(response);
  const wanted = {
    pages: readPages(context, response, search),
    isCut: total.isMore,
    masked: !canSeePersonalData(response),
    platformNames: await readPlatformNames(context, response),
    signal: AbortSignal.any([context.signal, gone]),
  };
  const headers = {
    'content-disposition': `attachment; filename="${nameFoundFile(context, wanted, format)}"`,
    'content-type': FORMAT_FACTS[format].contentType,
  };
  if (format === 'csv') await sendChunks(response, renderFoundCsv(context, wanted), headers);
  else await writeFoundWorkbook(context, wanted, (file) => sendFile(response, file, headers));
}

/** Reads what a search finds, page by page, up to EXPORT_ROWS_MAX. Each page is audited before it is returned. */
async function* readPages(
  context: Context,
  response: Response,
  search: Search,
): AsyncGenerator<FoundRow[], void, undefined> {
  const caller = getCaller(response);
  let after: SearchCursor | undefined;
  let isAudited = false;
  for (let rows = 0; rows < EXPORT_ROWS_MAX; rows += PAGE_ROWS) {
    const limit = Math.min(PAGE_ROWS, EXPORT_ROWS_MAX - rows);
    const page = await searchTransactions(context.db, context.keys, { ...search.query, limit, after });
    const found = await mapInTurns(page.transactions, (of) => ({
      of,
      shown: presentTransactionTo(context, caller, of),
    }));
    const shown = found.map((one) => one.shown);
    await auditShownTransactions(context, response, 'transactions.export', {
      target: search.target,
      transactions: shown.map(({ id }) => id),
      via: 'console',
    });
    if (!isAudited) isAudited = await auditWithheldMatches(context, caller, search.named, shown);
    yield found;
    if (!page.next) return;
    after = page.next;
  }
}
