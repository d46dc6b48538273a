import type { Request } from 'express';
import type { z } from 'zod';
import { ConfereError } from '../domain/errors.ts';
import { redactFieldName } from './redact-field-name.ts';

/** Parses the request's JSON body. @throws ConfereError `invalid_request` with the faults by field. */
export function parseBody<T extends z.ZodType>(request: Request, schema: T): z.infer<T> {
  return parse(request.body ?? {}, schema);
}

/** Parses the query string. A repeated parameter is a fault. @throws ConfereError `invalid_request` by field. */
export function parseQuery<T extends z.ZodType>(request: Request, schema: T): z.infer<T> {
  return parse(request.query, schema);
}

function parse<T extends z.ZodType>(value: unknown, schema: T): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string[]> = {};
  for (const issue of parsed.error.issues) {
    const name =
      issue.path.map((part) => (typeof part === 'number' ? part : redactFieldName(String(part)))).join('.') || 'body';
    fields[name] = [...(fields[name] ?? []), describeIssue(issue)];
  }
  const detail = Object.entries(fields).map(([name, faults]) => `${name}: ${faults.join(', ')}`);
  throw new ConfereError('invalid_request', detail.join('; '), { fields });
}

/** The schema's message, which names the rule and no value. Names of unknown fields are redacted. */
function describeIssue(issue: z.core.$ZodIssue): string {
  return issue.code === 'unrecognized_keys'
    ? `has no field ${issue.keys.map(redactFieldName).join(', ')}`
    : issue.message;
}
