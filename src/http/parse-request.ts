import type { Request } from 'express';
import type { z } from 'zod';
import { ConfereError, groupFaults } from '../domain/errors.ts';
import { UNUSABLE_KEY } from '../merchants/match-filter.ts';
import { redactFieldName } from './redact-field-name.ts';

/** Parses the request's JSON body. @throws ConfereError `invalid_request` with the faults by field. */
export function parseBody<T extends z.ZodType>(request: Request, schema: T): z.infer<T> {
  return parseValue(request.body ?? {}, schema);
}

/** Parses the query string. A repeated parameter is a fault. @throws ConfereError `invalid_request` by field. */
export function parseQuery<T extends z.ZodType>(request: Request, schema: T): z.infer<T> {
  return parseValue(request.query, schema);
}

/** Parses any value, such as one of a list. @throws ConfereError `invalid_request` with the faults by field. */
export function parseValue<T extends z.ZodType>(value: unknown, schema: T): z.infer<T> {
  const parsed = schema.safeParse(value);
  const issues = [...(parsed.error?.issues ?? []), ...findDroppedKey(value)];
  if (parsed.success && issues.length === 0) return parsed.data;
  const fields = groupFaults(issues.map((issue) => [nameField(issue), describeIssue(issue)]));
  const detail = Object.entries(fields).map(([name, faults]) => `${name}: ${faults.join(', ')}`);
  throw new ConfereError('invalid_request', detail.join('; '), { reason: 'fields_invalid', fields });
}

function nameField({ path }: Issue): string {
  return path.map((part) => (typeof part === 'number' ? part : redactFieldName(String(part)))).join('.') || 'body';
}

type Issue = z.core.$ZodIssue | { code: 'dropped_key'; path: string[]; message: string };
type Node = { value: unknown; key?: string; within?: Node };

/** The first key of a value that zod leaves out of a record without a word. */
function findDroppedKey(value: unknown): Issue[] {
  // no recursion: a body may be nested deeper than the stack
  const left: Node[] = [{ value }];
  for (let node = left.pop(); node; node = left.pop()) {
    const { value: inner } = node;
    if (typeof inner !== 'object' || inner === null) continue;
    if (Object.hasOwn(inner, UNUSABLE_KEY))
      return [{ code: 'dropped_key', path: [...pathOf(node), UNUSABLE_KEY], message: 'is a name that cannot be used' }];
    for (const [key, child] of Object.entries(inner)) left.push({ value: child, key, within: node });
  }
  return [];
}

function pathOf({ key, within }: Node): string[] {
  const path: string[] = [];
  for (let [name, node] = [key, within]; name !== undefined; [name, node] = [node?.key, node?.within]) path.push(name);
  return path.reverse();
}

/** The schema's message, which names the rule and no value. Names of unknown fields are redacted. */
function describeIssue(issue: Issue): string {
  return issue.code === 'unrecognized_keys'
    ? `has no field ${issue.keys.map(redactFieldName).join(', ')}`
    : issue.message;
}
