import { z } from 'zod';
import type { Role } from '../../access/roles.ts';

export type OperationResponse = { description: string; schema?: z.ZodType; contentType?: string };
type Responses = Record<number, OperationResponse>;

/** One route as the OpenAPI document describes it. Its path is OpenAPI's: `{id}` where Express has `:id`. */
export type Operation = {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  tag: string;
  summary: string;
  /** The credential that a request needs: a role's token, the provider's, a merchant's pull token, or nothing. */
  access: Role | readonly Role[] | 'provider' | 'merchant' | 'nothing';
  query?: z.ZodObject;
  body?: z.ZodType;
  /** By status. */
  responses: Responses;
};
type Details = Omit<Operation, 'method' | 'path' | 'access' | 'responses'>;

const API = '/api/v1';

/** The query of every list. */
const paging = z.object({
  limit: z.int().min(1).max(200).default(50).optional(),
  cursor: z.string().optional().describe('next_cursor of the page before'),
});

/** A list of the API, in pages. Its path ends in the name of its items. */
export function listOperation(
  path: string,
  details: { tag: string; items: z.ZodType; query?: z.ZodObject; access?: Role },
): Operation {
  const plural = path.split('/').at(-1) ?? '';
  const schema = z.object({ [plural]: z.array(details.items), next_cursor: z.string().nullable() });
  return {
    method: 'get',
    path: `${API}${path}`,
    tag: details.tag,
    summary: `List ${plural}, in pages`,
    access: details.access ?? 'viewer',
    query: details.query ? details.query.extend(paging.shape) : paging,
    responses: okResponse('A page', schema),
  };
}

export function getOperation(path: string, { item, ...details }: Details & { item: z.ZodType }): Operation {
  return { method: 'get', path: `${API}${path}`, access: 'viewer', responses: okResponse('It', item), ...details };
}

export function postOperation(
  path: string,
  access: Role | readonly Role[],
  details: Details & { responses: Responses },
): Operation {
  return { method: 'post', path: `${API}${path}`, access, ...details };
}

export const okResponse = (description: string, schema: z.ZodType): Responses => ({ 200: { description, schema } });
export const createdResponse = (description: string, schema: z.ZodType): Responses => ({
  201: { description, schema },
});
export const acceptedResponse = (description: string, schema: z.ZodType): Responses => ({
  202: { description, schema },
});
