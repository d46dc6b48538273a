/** Routes of the API for changes and lists that `src/operations` declares. */
import type { Request, RequestHandler, Response, Router } from 'express';
import type { Role } from '../access/roles.ts';
import type { Context } from '../context.ts';
import type { Subject } from '../operations/catalogue.ts';
import { type AnyChange, answerChange, type By } from '../operations/define-change.ts';
import { type List, readList } from '../operations/define-list.ts';
import { parseInput } from '../operations/parse-input.ts';
import { getCaller, requireRole } from './access/authorize.ts';
import { getScope, requireScope } from './access/require-scope.ts';
import { createRouter } from './create-router.ts';
import { idOf, listReads, withoutPage } from './list-reads.ts';
import { parseNumberedPage } from './parse-page.ts';

/** Mounts the changes and lists of a subject. Of several changes on one route, the body has the field that chooses one, or is the first one's. */
export function mountOperations(context: Context, subject: Subject): Router {
  const router = createRouter();
  const { changes = [] } = subject;
  for (const route of new Set(changes.flatMap((one) => one.route ?? []))) {
    const [method = '', path = ''] = route.split(' ');
    const own = changes.filter((one) => one.route === route);
    router[method.toLowerCase() as 'post'](toExpress(path), admit(own), async (request, response) => {
      await answer(context, choose(own, request.body), request, response);
    });
  }
  for (const { route, roles, answer: read } of listReads(subject)) {
    router.get(toExpress(route), requireRole(...roles), async (request, response) => {
      const { query, params } = request as { query: Request['query']; params: Record<string, string> };
      response.json(await read(context, { caller: getCaller(response), query, params }));
    });
  }
  return router;
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
  given: { filter?: Filter; limitDefault?: number } & Partial<Pick<By, 'caller' | 'via'>> = {},
): Promise<{ rows: Row[]; next: number | undefined }> {
  const filter = given.filter ?? ((list.filters ? parseInput(withoutPage(request.query), list.filters) : {}) as Filter);
  const by = {
    caller: given.caller ?? getCaller(response),
    id: idOf(request.params),
    ...(given.via ? { via: given.via } : {}),
  };
  return await readList(context, list, { filter, page: parseNumberedPage(request, given.limitDefault), ...by });
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
  const [id, params] = [idOf(request.params), request.params as Record<string, string>];
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
