/** Routes of the API for changes and lists that `src/operations` declares. */
import type { Request, RequestHandler, Response, Router } from 'express';
import type { z } from 'zod';
import type { Role } from '../access/roles.ts';
import type { Context } from '../context.ts';
import { limitStatementTime } from '../database/limit-statement-time.ts';
import type { Subject } from '../operations/catalogue.ts';
import { type AnyChange, answerChange, type By } from '../operations/define-change.ts';
import { type List, readList } from '../operations/define-list.ts';
import { parseInput } from '../operations/parse-input.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { getCaller, requireRole } from './access/authorize.ts';
import { getScope, requireScope } from './access/require-scope.ts';
import { createRouter } from './create-router.ts';
import { parseNumberedPage, parsePage, presentPage } from './parse-page.ts';

/** Mounts the changes and lists of a subject. Of several changes on one route, the body has the field that chooses one, or is the first one's. */
export function mountOperations(
  context: Context,
  { changes = [], lists = [], searches = [], items = [] }: Subject,
): Router {
  const router = createRouter();
  const reading = { ...context, db: limitStatementTime(context.db) };
  for (const route of new Set(changes.flatMap((one) => one.route ?? []))) {
    const [method = '', path = ''] = route.split(' ');
    const own = changes.filter((one) => one.route === route);
    router[method.toLowerCase() as 'post'](toExpress(path), admit(own), async (request, response) => {
      await answer(context, choose(own, request.body), request, response);
    });
  }
  for (const list of lists) {
    if (!list.route) continue;
    router.get(toExpress(list.route), requireRole(...list.roles), async (request, response) => {
      const { rows, next } = await readListPage(context, list, request, response);
      const shown = list.present ? rows.map((row) => list.present?.(row, getCaller(response)) ?? row) : rows;
      response.json(presentPage(list.name, shown, next));
    });
  }
  for (const search of searches) {
    router.get(toExpress(search.route), requireRole(...search.roles), async (request, response) => {
      const filter = readFilter(request, search.filters);
      const { rows, next } = await search.find(context, parsePage(request), filter, getCaller(response));
      response.json(presentPage(search.name, rows, next));
    });
  }
  for (const item of items) {
    router.get(toExpress(item.route), requireRole('viewer'), async (request, response) => {
      const by = { caller: getCaller(response), id: idOf(request), params: request.params as Record<string, string> };
      const read = await item.read(reading, by, item.query && parseInput(request.query, item.query));
      response.json(withoutSeq(read));
    });
  }
  return router;
}

/** The item that the address names. */
function idOf({ params }: Request): string {
  return String(Object.values(params)[0] ?? '');
}

/**
 * Reads the page of a list that the query asks for.
 * @param given.filter as a page of the console reads it; default: the query.
 * @throws ConfereError `invalid_request`.
 */
export async function readListPage<Row extends { seq: number }, Filter>(
  context: Context,
  list: List<Row, Filter>,
  request: Request,
  response: Response,
  given: { filter?: Filter; limitDefault?: number; via?: 'console' } = {},
): Promise<{ rows: Row[]; next: number | undefined }> {
  const filter = given.filter ?? ((list.filters ? readFilter(request, list.filters) : {}) as Filter);
  const by = {
    caller: getCaller(response),
    id: idOf(request),
    ...(given.via ? { via: given.via } : {}),
  };
  return await readList(context, list, { filter, page: parseNumberedPage(request, given.limitDefault), ...by });
}

function readFilter(request: Request, filters: z.ZodObject) {
  const { limit: _, cursor: __, ...query } = request.query;
  return parseInput(query, filters);
}

/** Passes those who may make one of these changes. @throws ConfereError `forbidden`, `unauthorized`. */
export function admit(changes: readonly Pick<AnyChange, 'roles' | 'isForSources'>[]): RequestHandler {
  const roles = changes.flatMap((one) => (one.roles === 'merchant' ? [] : one.roles));
  if (roles.length === 0) return requireScope;
  const check = requireRole(...(roles as [Role, ...Role[]]));
  if (!changes.every(({ isForSources }) => isForSources)) return check;
  return (request, response, next) => (getCaller(response).sources ? next() : check(request, response, next));
}

/** Says who asks for a change: a caller of ours, or the merchant whose scope the request has. @param isPage whether a form asks. */
export function byOf({ roles }: Pick<AnyChange, 'roles'>, request: Request, response: Response, isPage: boolean): By {
  const [id, params] = [idOf(request), request.params as Record<string, string>];
  if (roles !== 'merchant') return { caller: getCaller(response), id, params, ...(isPage ? { via: 'console' } : {}) };
  const scope = getScope(response);
  // a merchant has no role of ours
  const caller = { id: scope.actor, role: 'viewer' } as const;
  return { caller, id: id || scope.merchant.id, params, scope, ...(isPage ? { via: 'portal' } : {}) };
}

async function answer(context: Context, change: AnyChange, request: Request, response: Response): Promise<void> {
  const by = byOf(change, request, response, false);
  const given = change.input ? parseInput(request.body ?? {}, change.input) : undefined;
  const { status, body, location } = await answerChange(context, change, given, by);
  if (location !== undefined) response.location(location);
  response.status(status);
  if (body === undefined) response.end();
  else response.json(body);
}

function choose([first, ...others]: readonly AnyChange[], body: unknown): AnyChange {
  const given = (body ?? {}) as Record<string, unknown>;
  return others.find(({ chosenBy = '' }) => (given[chosenBy] ?? null) !== null) ?? (first as AnyChange);
}

function toExpress(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
