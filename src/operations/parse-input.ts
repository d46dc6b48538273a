import type { z } from 'zod';
import { ConfereError, groupFaults } from '../domain/errors.ts';
import { UNUSABLE_KEY } from '../merchants/match-filter.ts';

const PLAIN_NAME = /^(?=.{1,32}$)[a-z_]+\d?[a-z_]*$/i;

/**
 * Parses what somebody gave: a body, a query, the options of a command.
 * @param name how a field is called where it was given.
 * @throws ConfereError `invalid_request` with the faults by field.
 */
export function parseInput<T extends z.ZodType>(
  value: unknown,
  schema: T,
  name = (field: string) => `${field}:`,
): z.infer<T> {
  const parsed = schema.safeParse(value);
  const issues = [...(parsed.error?.issues ?? []), ...findDroppedKey(value)];
  if (parsed.success && issues.length === 0) return parsed.data;
  const fields = groupFaults(issues.map((issue) => [nameField(issue), describeIssue(issue)]));
  const detail = Object.entries(fields).map(([field, faults]) => `${name(field)} ${faults.join(', ')}`);
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

/**
 * Returns the name of a parameter or field for an error response, which proxies and clients may log. A name that is not a
 * plain word, such as a document or an e-mail, may be personal data in the wrong place: it is redacted.
 */
export function redactFieldName(name: string): string {
  return PLAIN_NAME.test(name) ? name : '(no plain name)';
}
