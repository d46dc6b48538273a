import { z } from 'zod';
import type { Role } from '../access/roles.ts';
import type { Reason } from '../texts/refuse.ts';

export type OperationResponse = { description: string; schema?: z.ZodType; contentType?: string };
export type Responses = Record<number, OperationResponse>;

/** One route as the OpenAPI document describes it. Its path is OpenAPI's: `{id}` where Express has `:id`. */
export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  tag: string;
  summary: string;
  /** The credential: a role's token, the provider's, a merchant's pull token or token of the portal, or nothing. */
  access: Role | readonly Role[] | 'provider' | 'merchant' | 'portal' | 'nothing';
  /** Also a merchant's pull token and its token of the portal. Its query has no parameter `merchant` then. */
  isForMerchantsToo?: true;
  /** Also a merchant's token of the portal that has sources. */
  isForSources?: boolean;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
  /** The type of the body; default: JSON. */
  bodyType?: string;
  /** By status. */
  responses: Responses;
  /** For which reasons it is refused, beside those of its fields and of roles. */
  refuses?: readonly Reason[];
};
type Access = Operation['access'];

const API = '/api/v1';

/** Items of a page of a list, at each door. */
export const PAGE_ITEMS_MAX = 200;
export const PAGE_ITEMS_DEFAULT = 50;

/** The query of every list. */
const paging = z.object({
  limit: z.int().min(1).max(PAGE_ITEMS_MAX).default(50).optional(),
  cursor: z.string().optional().describe('next_cursor of the page before'),
});

/** Describes the operations of one tag, by their paths below `/api/v1`. Reads are for viewers unless `access` is given. */
export function describeTag(tag: string) {
  return {
    /** A list, in pages. Its path ends in the name of its items. */
    list(path: string, items: z.ZodType, query = z.object({}), access: Access = 'viewer'): Operation {
      const plural = (path.split('/').at(-1) ?? '').replaceAll('-', '_');
      const page = z.object({ [plural]: z.array(items), next_cursor: z.string().nullable() });
      const about = { tag, summary: `List ${plural}, in pages`, query: query.extend(paging.shape) };
      return { method: 'get', path: `${API}${path}`, access, ...about, responses: ok('A page', page) };
    },
    get(path: string, summary: string, item: z.ZodType | Responses, query?: z.ZodObject): Operation {
      const responses = item instanceof z.ZodType ? ok('It', item) : item;
      return { method: 'get', path: `${API}${path}`, tag, summary, access: 'viewer', query, responses };
    },
    post: (path: string, access: Access, summary: string, responses: Responses, body?: z.ZodType): Operation => ({
      ...{ method: 'post', path: `${API}${path}`, tag, summary, access, body, responses },
    }),
    put: (path: string, access: Access, summary: string, responses: Responses, body: z.ZodType): Operation => ({
      ...{ method: 'put', path: `${API}${path}`, tag, summary, access, body, responses },
    }),
    patch: (path: string, access: Access, summary: string, responses: Responses, body: z.ZodType): Operation => ({
      ...{ method: 'patch', path: `${API}${path}`, tag, summary, access, body, responses },
    }),
    delete: (path: string, access: Access, summary: string, description: string): Operation => ({
      ...{ method: 'delete', path: `${API}${path}`, tag, summary, access, responses: ended(description) },
    }),
  };
}

export const ok = (description: string, schema: z.ZodType): Responses => ({ 200: { description, schema } });
export const created = (description: string, schema: z.ZodType): Responses => ({ 201: { description, schema } });
export const accepted = (description: string, schema: z.ZodType): Responses => ({ 202: { description, schema } });
export const ended = (description: string): Responses => ({ 204: { description } });

/** A summary as it goes on after other words. */
export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
