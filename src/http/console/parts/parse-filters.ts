import type { Request } from 'express';
import type { z } from 'zod';
import { ConfereError } from '../../../domain/errors.ts';

/** Filters that may name a person: extra is free text, and often a document. */
export const PERSONAL_FILTERS = ['document', 'name', 'extra'];

/**
 * Parses the filters in a page's address or form. An empty field is no filter.
 * @throws ConfereError `invalid_request` with the faults by field: an invalid filter must not be ignored.
 */
export function parseFilters<T extends z.ZodType>(given: Record<string, unknown>, schema: T): z.infer<T> {
  const set = Object.entries(given).filter(([, value]) => value !== '');
  const parsed = schema.safeParse(Object.fromEntries(set));
  if (parsed.success) return parsed.data;
  const fields: Record<string, string[]> = {};
  for (const issue of parsed.error.issues) {
    const name = issue.path.join('.');
    fields[name] = [...(fields[name] ?? []), issue.message];
  }
  throw new ConfereError('invalid_request', 'a filter is wrong', { fields });
}

/** Whether any of these filters is set. */
export function isFiltered(filters: Record<string, unknown>): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** The audit's target of a list: the names of the filters that are set, never their values. */
export function nameFilters(filters: Record<string, unknown>): string {
  return JSON.stringify(Object.keys(filters).filter((name) => filters[name] !== undefined));
}

/** Reads a text field of a posted form, trimmed; undefined when it is empty. */
export function readFormField(request: Request, name: string): string | undefined {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Reads a field of a posted form, trimmed; of several values, such as of checkboxes, one a line. */
export function readFormLines(request: Request, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return (Array.isArray(value) ? value.join('\n') : typeof value === 'string' ? value : '').trim();
}

/** Removes the filters that may name a person from an address of ours. */
export function removePersonalFilters(address: string): string {
  const [path = '', query] = address.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  if (!PERSONAL_FILTERS.some((name) => search.has(name))) return address;
  for (const name of PERSONAL_FILTERS) search.delete(name);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
