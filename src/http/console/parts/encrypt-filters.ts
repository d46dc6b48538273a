/**
 * Keeps filters that may name a person out of addresses, which browser histories, proxies and logs store. The form of a
 * search is posted, and redirects to an address that holds these filters encrypted. The key is derived from the session
 * cookie: nobody else can read them, and nobody at all once the session is over. Other filters stay in plain text, so
 * that a list can be bookmarked and shared.
 */
import { createHmac } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { createVault, type Place, type Vault } from '../../../database/keys/vault.ts';
import { t } from '../../../texts/translate.ts';
import type { Draft } from './fields.ts';
import { isPersonal, readFilters } from './parse-filters.ts';
import { readSessionCookie } from './require-session.ts';

export type Filters = Record<string, unknown>;
type Configured = Pick<Context, 'config'>;

const PLACE: Place = { purpose: 'search', row: [] };
const SEALED = 'sealed';
const FORM_TOKEN = 'form_token';

/** How a list reads its filters, and answers wrong ones. */
export type SealedList<T extends z.ZodType> = {
  schema: T;
  /** The field that shows what is wrong with the encrypted filters. */
  field: string;
  /** Answers with the form as it was filled in. */
  refuse: (request: Request, response: Response, draft: Draft) => void | Promise<void>;
};

/** Redirects a posted search, or an address that holds such a filter in plain text, to the address that encrypts it. */
export function encryptFilters<T extends z.ZodType>(context: Configured, list: SealedList<T>): RequestHandler {
  return async (request, response, next) => {
    const posted = request.method === 'POST';
    const typed = Object.keys(request.query).filter(
      (name) => request.query[name] !== '' && isPersonal(name, request.query[name]),
    );
    if (!posted && typed.length === 0) {
      next();
      return;
    }
    const given = posted ? ((request.body as Filters | undefined) ?? {}) : replacePlain(context, request, typed);
    // checks the lengths first: an address has no room for a longer text
    const { filters, draft } = given ? readFilters(given, list.schema) : describeEnded(request, list.field);
    if (filters === undefined || given === undefined) await list.refuse(request, response, draft);
    else response.redirect(303, encryptAddress(context, request, request.path, given));
  };
}

/** Filters in plain text replace encrypted ones of the same name. */
function replacePlain(context: Configured, request: Request, typed: string[]): Filters | undefined {
  const sealed = decryptFilters(context, request);
  return sealed && { ...sealed, ...Object.fromEntries(typed.map((name) => [name, request.query[name]])) };
}

/**
 * Reads the filters in a page's address, decrypted: as `readFilters` does. Filters that another session encrypted are
 * wrong ones: they cannot be read, and must not be ignored.
 * @returns also the filters as they were given, from which other addresses of the list follow.
 */
export function readSealedFilters<T extends z.ZodType>(
  context: Configured,
  request: Request,
  list: Pick<SealedList<T>, 'schema' | 'field'>,
): { filters: z.infer<T> | undefined; draft: Draft; given: Filters } {
  const given = decryptFilters(context, request);
  if (given === undefined) return { ...describeEnded(request, list.field), given: {} };
  return { ...readFilters(given, list.schema), given };
}

function describeEnded(request: Request, field: string): { filters: undefined; draft: Draft } {
  const { [SEALED]: _, ...plain } = request.query;
  const ended = t('Esta busca valia só para a sessão em que foi feita: faça-a de novo.');
  const values = Object.entries(plain).filter(([name]) => !isPersonal(name, plain[name]));
  const texts = values.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { filters: undefined, draft: { values: Object.fromEntries(texts), faults: { [field]: ended } } };
}

/** @returns undefined if another session encrypted them. */
function decryptFilters(context: Configured, request: Request): Filters | undefined {
  const { [SEALED]: sealed, ...plain } = request.query;
  if (sealed === undefined) return plain;
  if (!isFilled(sealed)) return undefined;
  try {
    const text = openVault(context, request).decrypt(Buffer.from(sealed, 'base64url'), PLACE).toString();
    return { ...plain, ...(JSON.parse(text) as Filters) };
  } catch {
    return undefined;
  }
}

/** The address of a list with these filters: personal ones encrypted, empty ones left out. */
export function encryptAddress(context: Configured, request: Request, path: string, given: Filters): string {
  const search = new URLSearchParams();
  const personal: Filters = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isFilled(value) || name === FORM_TOKEN || name === SEALED) continue;
    if (isPersonal(name, value)) personal[name] = value;
    else search.set(name, value);
  }
  if (Object.keys(personal).length > 0) {
    const sealed = openVault(context, request).encrypt(Buffer.from(JSON.stringify(personal)), PLACE);
    search.set(SEALED, sealed.toString('base64url'));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function openVault(context: Configured, request: Request): Vault {
  const session = readSessionCookie(context, request) ?? '';
  const key = createHmac('sha256', session).update('confere search').digest();
  // the next release binds: this one knows both forms, the version before it the other one alone
  return createVault(key, () => false);
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
