/** Reads that `src/operations` declares, for the doors that answer JSON: routes of the API, and tools of the MCP server. */
import type { Request } from 'express';
import type { Role } from '../access/roles.ts';
import type { Caller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { limitReads } from '../database/limit-statement-time.ts';
import type { Subject } from '../operations/catalogue.ts';
import { readList } from '../operations/define-list.ts';
import { parseInput } from '../operations/parse-input.ts';
import { withoutSeq } from '../operations/present-row.ts';
import { parseNumberedPage, parsePage, presentPage } from './parse-page.ts';

export type Asked = { caller: Caller; params: Readonly<Record<string, string>>; query: Request['query'] };

export type Read = {
  /** Below `/api/v1`, as OpenAPI writes it. */
  route: string;
  roles: readonly [Role, ...Role[]];
  /** Answers as this caller may see it, and audits persons who are shown. @throws ConfereError. */
  answer: (context: Context, asked: Asked) => Promise<object>;
};

/** The lists, searches and items of a subject that have a route. */
export function listReads({ lists = [], searches = [], items = [] }: Subject): Read[] {
  return [
    ...lists.flatMap((list): Read[] => {
      const { route, roles, filters } = list;
      if (!route) return [];
      const answer: Read['answer'] = async (context, { caller, params, query }) => {
        const filter = filters ? parseInput(withoutPage(query), filters) : {};
        const asked = { filter, page: parseNumberedPage({ query }), caller, id: idOf(params) };
        const { rows, next } = await readList(context, list, asked);
        const shown = list.present ? rows.map((row) => list.present?.(row, caller) ?? row) : rows;
        return presentPage(list.name, shown, next);
      };
      return [{ route, roles, answer }];
    }),
    ...searches.map((search): Read => {
      const { route, roles, filters, name } = search;
      const answer: Read['answer'] = async (context, { caller, query }) => {
        const filter = parseInput(withoutPage(query), filters);
        const { rows, next } = await search.find(context, parsePage({ query }), filter, caller);
        return presentPage(name, rows, next);
      };
      return { route, roles, answer };
    }),
    ...items.map((item): Read => {
      const { route, query: schema } = item;
      const answer: Read['answer'] = async (context, { caller, params, query }) => {
        const reading = limitReads(context);
        const by = { caller, id: idOf(params), params };
        return withoutSeq(await item.read(reading, by, schema && parseInput(query, schema)));
      };
      return { route, roles: ['viewer'], answer };
    }),
  ];
}

/** The item that the address names. */
export function idOf(params: Request['params']): string {
  return String(Object.values(params)[0] ?? '');
}

/** The filters of a list's query. */
export function withoutPage({ limit: _, cursor: __, ...filters }: Request['query']): Request['query'] {
  return filters;
}
