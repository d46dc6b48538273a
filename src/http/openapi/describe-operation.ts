import { z } from 'zod';
import type { Role } from '../../access/roles.ts';

export type OperationResponse = { description: string; schema?: z.ZodType; contentType?: string };

/** One route, as it is to be told. Paths are OpenAPI's: `{id}` where Express has `:id`. */
export type Operation = {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  tag: string;
  summary: string;
  /** What it takes to be let in: a role's token, the provider's credentials, a merchant's pull token, or nothing. */
  takes: Role | readonly Role[] | 'provider' | 'merchant' | 'nothing';
  query?: z.ZodObject;
  body?: z.ZodType;
  answers: Record<number, OperationResponse>;
};

const API = '/api/v1';

/** The query of every list. */
const paging = z.object({
  limit: z.int().min(1).max(200).default(50).optional(),
  cursor: z.string().optional().describe('next_cursor of the page before'),
});

/** A list of the API, in pages. */
export function listOperation(
  path: string,
  told: { tag: string; items: z.ZodType; query?: z.ZodObject; takes?: Role },
): Operation {
  const plural = path.split('/').at(-1) ?? '';
  const schema = z.object({ [plural]: z.array(told.items), next_cursor: z.string().nullable() });
  return {
    method: 'get',
    path: `${API}${path}`,
    tag: told.tag,
    summary: `List ${plural}, in pages`,
    takes: told.takes ?? 'viewer',
    query: told.query ? told.query.extend(paging.shape) : paging,
    answers: { 200: { description: 'A page', schema } },
  };
}

type Told = Omit<Operation, 'method' | 'path' | 'takes' | 'answers'>;

export function getOperation(path: string, told: Told & { answer: z.ZodType }): Operation {
  const { answer, ...rest } = told;
  const answers = { 200: { description: 'It', schema: answer } };
  return { method: 'get', path: `${API}${path}`, takes: 'viewer', answers, ...rest };
}

/** A POST; its answers by status. */
export function postOperation(
  path: string,
  takes: Role | readonly Role[],
  told: Told & { answers: Operation['answers'] },
): Operation {
  return { method: 'post', path: `${API}${path}`, takes, ...told };
}

type Answers = Operation['answers'];

export const okResponse = (description: string, schema: z.ZodType): Answers => ({ 200: { description, schema } });
export const createdResponse = (description: string, schema: z.ZodType): Answers => ({ 201: { description, schema } });
export const acceptedResponse = (description: string, schema: z.ZodType): Answers => ({ 202: { description, schema } });
