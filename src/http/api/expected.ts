import type { Request, Router } from 'express';
import type { Context } from '../../context.ts';
import { idOf } from '../../expected/expected-id.ts';
import { authorizeSearch } from '../../operations/authorize-search.ts';
import { expectedFilters, requireSource, showExpected } from '../../operations/expected.ts';
import { renderExpectedCsv } from '../../operations/export-expected.ts';
import { auditPersonalAccess, getCaller, requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { parseQuery } from '../parse-request.ts';
import { sendChunks } from '../send-file.ts';

/** One expected payment, by its id or its key; and the list as CSV. */
export function expectedRoutes(context: Context): Router {
  const router = createRouter();
  router.get('/expected-payments.csv', requireRole('viewer'), async (request, response) => {
    const filter = parseQuery(request, expectedFilters);
    await sendChunks(response, renderExpectedCsv(context, { filter, caller: getCaller(response) }), {
      'content-disposition': 'attachment; filename="expected-payments.csv"',
      'content-type': 'text/csv; charset=utf-8',
    });
  });
  router.get('/expected-payments/:id', requireRole('viewer'), async (request: Request<{ id: string }>, response) => {
    const { id } = request.params;
    await auditPersonalAccess(context, response, 'expected.show', id);
    response.json(await showExpected(context, id, getCaller(response)));
  });
  router.get(
    '/expected-payments/:source/:number',
    requireRole('viewer'),
    async (request: Request<{ source: string; number: string }>, response) => {
      const caller = getCaller(response);
      requireSource(caller, request.params.source);
      // a number may hold a document
      await authorizeSearch(context, caller, { number: request.params.number });
      const id = idOf(context.keys, request.params);
      await auditPersonalAccess(context, response, 'expected.show', id);
      response.json(await showExpected(context, id, getCaller(response)));
    },
  );
  return router;
}
