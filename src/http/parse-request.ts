import type { Request } from 'express';
import type { z } from 'zod';
import { parseInput } from '../operations/parse-input.ts';

/** Parses the query string. A repeated parameter is a fault. @throws ConfereError `invalid_request` by field. */
export function parseQuery<T extends z.ZodType>(request: Request, schema: T): z.infer<T> {
  return parseInput(request.query, schema);
}
