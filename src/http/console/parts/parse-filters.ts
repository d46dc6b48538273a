import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { isDay } from '../../../domain/calendar.ts';
import { parseTypedAmount } from '../../../domain/money.ts';
import { namesNobody } from '../../../ledger/read/classify-search.ts';
import { findReversed } from '../../../operations/define-list.ts';
import { redactFieldName } from '../../../operations/parse-input.ts';
import { faultOf, refuseFields } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { QUERY_CHARS_MAX } from '../../check-query.ts';
import type { Draft } from './fields.ts';

/** Filters that may name a person: extra is free text, and often a document. */
const PERSONAL_FILTERS = ['document', 'name', 'words', 'inside', 'extra'];
/** The search box: most texts in it may name a person. */
export const SEARCH_BOX = 'q';

/** Whether a filter may name a person, so that its value must not stand in an address. */
export function isPersonal(name: string, value: unknown): boolean {
  if (name === SEARCH_BOX) return typeof value !== 'string' || !namesNobody(value);
  return PERSONAL_FILTERS.includes(name);
}

/** A text of a filter. */
export function filterText(charsMax: number) {
  return z
    .string({ error: () => t('Escreva um só texto.') })
    .trim()
    .max(charsMax, { error: () => t('No máximo {n} caracteres.', { n: charsMax }) })
    .optional();
}

/** A filter with a few codes. */
export function filterChoice<const T extends readonly string[]>(codes: T) {
  return z.enum(codes, { error: () => t('Escolha um da lista.') }).optional();
}

/** A day of a filter. */
export const filterDay = z
  .string({ error: () => t('Escreva um só texto.') })
  .refine(isDay, { error: () => t('Este dia não existe.') })
  .optional();

/** An amount of a filter, as people type it, in cents. */
export const filterAmount = z
  .string({ error: () => t('Escreva um só texto.') })
  .transform((text, found) => {
    const cents = parseTypedAmount(text);
    if (cents !== undefined && cents >= 0n) return cents;
    const message = cents === undefined ? t('Escreva um valor como nas listas.') : t('Escreva o valor sem sinal.');
    found.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .optional();

/**
 * Reads the filters in a page's address or form. An empty field is no filter.
 * @returns the filters, and the form as it was filled in, with the faults by field. With a fault there are no filters: an
 *   invalid one must not be ignored.
 */
export function readFilters<T extends z.ZodType>(
  given: Record<string, unknown>,
  schema: T,
): { filters: z.infer<T> | undefined; draft: Draft } {
  const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const draft: Draft = { values: Object.fromEntries(texts), faults: {} };
  for (const [name, text] of texts)
    if (text.length > QUERY_CHARS_MAX) draft.faults[name] = t('No máximo {n} caracteres.', { n: QUERY_CHARS_MAX });
  if (Object.keys(draft.faults).length > 0) return { filters: undefined, draft };
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')));
  if (parsed.success) {
    const reversed = findReversed(parsed.data as object);
    if (reversed === undefined) return { filters: parsed.data, draft };
    const isAmount = typeof Object.entries(parsed.data as object).find(([name]) => name === reversed)?.[1] === 'bigint';
    draft.faults[reversed] = isAmount ? t('É menor que o primeiro valor.') : t('Vem antes do primeiro dia.');
    return { filters: undefined, draft };
  }
  for (const { path, message } of parsed.error.issues) draft.faults[path.join('.')] ??= message;
  return { filters: undefined, draft };
}

/** Whether any of these filters is set. */
export function isFiltered(filters: Record<string, unknown>): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** Reads a parameter of a page's address, trimmed; empty without it. */
export function readQuery(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Reads a text field of a posted form, trimmed; undefined when it is empty. */
export function readFormField(request: Request, name: string): string | undefined {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/**
 * Reads a field of a posted form, trimmed; of several values, such as of checkboxes, one a line. A browser sends line feeds as
 * CRLF, also those of a hidden field: both are the same value.
 */
export function readFormLines(request: Request, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  const text = Array.isArray(value) ? value.join('\n') : typeof value === 'string' ? value : '';
  return text.replaceAll('\r\n', '\n').trim();
}

/** Removes the filters that may name a person from an address of ours. */
export function removePersonalFilters(address: string): string {
  const [path = '', query] = address.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  const personal = [...search].filter(([name, value]) => isPersonal(name, value)).map(([name]) => name);
  if (personal.length === 0) return address;
  for (const name of personal) search.delete(name);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/**
 * Refuses an address that gives a parameter more than once, or as a list (`state[]=open`), for all pages alike: a page
 * must not leave a filter out and show everything instead. Every page behind it reads a parameter as one text.
 */
export function refuseRepeated(): RequestHandler {
  return (request, _response, next) => {
    const wrong = Object.keys(request.query).filter((name) => Array.isArray(request.query[name]) || name.includes('['));
    if (wrong.length > 0) {
      throw refuseFields(wrong.map((name) => faultOf(redactFieldName(name.replace(/\[.*/s, '')), 'given_twice')));
    }
    next();
  };
}
