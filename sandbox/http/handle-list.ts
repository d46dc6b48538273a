import type { Request, Response } from 'express';
import type { Sandbox } from '../context.ts';
import type { Switches } from '../faults/switches.ts';
import { listTransactions, PAGE_SIZE } from '../store/list-transactions.ts';
import { ApiError, createFieldError, type FieldErrors } from './handle-error.ts';
import { type ListQuery, listSchema } from './list-schema.ts';
import { presentTransaction } from './present-transaction.ts';

/** GET /api/v1/transactions: answers one page with its pagination fields. */
export async function handleList(sandbox: Sandbox, request: Request, response: Response): Promise<void> {
  const switches = sandbox.switches.current;
  const asked = readQuery(request);
  const { transactions, total, page } = await readPage(sandbox, asked, switches);
  const lastPage = lastPageOf(total);
  const shownTotal = total + switches.list.total_off_by;
  response.json({
    transactions: transactions.map((each) =>
      presentTransaction(each, 'list', { settings: sandbox.settings, switches }),
    ),
    last_page: lastPage,
    next_page_url: page < lastPage ? nextPageUrl(sandbox, { ...asked, page: page + 1 }) : false,
    current_page: page,
    total: switches.list.total_as === 'string' ? String(shownTotal) : shownTotal,
  });
}

function readQuery(request: Request): ListQuery {
  // `status=` is an empty form field, not an empty status
  const given = Object.entries(request.query).filter(([, value]) => value !== '');
  const result = listSchema.safeParse(Object.fromEntries(given));
  if (result.success) return result.data;
  const errors: FieldErrors = {};
  for (const { path, message } of result.error.issues) {
    const field = String(path[0]);
    errors[field] = [`The ${field} field ${message}.`];
  }
  throw createFieldError(errors);
}

async function readPage(sandbox: Sandbox, asked: ListQuery, switches: Switches) {
  const read = await listTransactions(sandbox.db, asked, asked.page, switches);
  const lastPage = lastPageOf(read.total);
  if (asked.page <= lastPage) return { ...read, page: asked.page };
  switch (switches.list.past_end) {
    case 'empty':
      return { ...read, page: asked.page };
    case 'last_page':
      return { ...(await listTransactions(sandbox.db, asked, lastPage, switches)), page: lastPage };
    case 'not_found':
      throw new ApiError(404, 404, 'There is no such page.');
    case 'invalid':
      throw createFieldError({ page: ['The page field is past the last page.'] });
  }
}

function lastPageOf(total: number): number {
  return Math.max(1, Math.ceil(total / PAGE_SIZE));
}

/** As the live service writes it: without the `api` segment, with the given filters. */
function nextPageUrl({ settings, switches }: Sandbox, query: ListQuery): string {
  const { next_form, next_host } = switches.current.list;
  const carried = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) carried.set(name, String(value));
  const relative = `/v1/transactions?${carried.toString()}`;
  return next_form === 'relative' ? relative : `${(next_host ?? settings.url).replace(/\/$/, '')}${relative}`;
}
