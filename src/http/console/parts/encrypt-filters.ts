/**
 * Keeps filters that may name a person out of addresses, which browser histories, proxies and logs store. The form of a
 * search is posted, and redirects to an address that holds these filters encrypted. The key is derived from the session
 * cookie: nobody else can read them, and nobody at all once the session is over. Other filters stay in plain text, so
 * that a list can be bookmarked and shared.
 */
import { createHmac } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { createVault, type Vault } from '../../../database/keys/vault.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { t } from '../languages/translate.ts';
import { PERSONAL_FILTERS, parseFilters } from './parse-filters.ts';
import { readSessionCookie } from './require-session.ts';

type Filters = Record<string, unknown>;

const SEALED = 'sealed';
const FORM_TOKEN = 'form_token';

/**
 * Redirects a posted search, or an address that holds such a filter in plain text, to the address that encrypts it.
 * @throws ConfereError `invalid_request` for a wrong filter.
 */
export function encryptFilters(context: Context, schema: z.ZodType): RequestHandler {
  return (request, response, next) => {
    const posted = request.method === 'POST';
    const typed = PERSONAL_FILTERS.filter((name) => request.query[name] !== undefined && request.query[name] !== '');
    if (!posted && typed.length === 0) {
      next();
      return;
    }
    const given: Filters = posted
      ? { ...(request.body as Filters | undefined) }
      : // filters in plain text replace encrypted ones of the same name
        {
          ...decryptFilters(context, request),
          ...Object.fromEntries(typed.map((name) => [name, request.query[name]])),
        };
    // validated first: an address has no room for more than a field takes
    parseFilters(given, schema);
    response.redirect(303, encryptAddress(openVault(context, request), request.path, given));
  };
}

/**
 * Returns the filters in a page's address, decrypted.
 * @throws ConfereError `invalid_request` when another session encrypted them: a filter that cannot be read must not be
 * ignored.
 */
export function decryptFilters(context: Context, request: Request): Filters {
  const { [SEALED]: sealed, ...plain } = request.query;
  if (sealed === undefined) return plain;
  try {
    if (!isFilled(sealed)) throw new TypeError('sealed is not one text');
    const text = openVault(context, request).decrypt(Buffer.from(sealed, 'base64url')).toString();
    return { ...plain, ...(JSON.parse(text) as Filters) };
  } catch (error) {
    const fields = { [t('busca')]: [t('valia só para a sessão em que foi feita; faça-a de novo')] };
    throw new ConfereError('invalid_request', 'this search ended with its session: search again', {
      fields,
      cause: error,
    });
  }
}

function encryptAddress(vault: Vault, path: string, given: Filters): string {
  const search = new URLSearchParams();
  const personal: Filters = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isFilled(value) || name === FORM_TOKEN || name === SEALED) continue;
    if (PERSONAL_FILTERS.includes(name)) personal[name] = value;
    else search.set(name, value);
  }
  if (Object.keys(personal).length > 0) {
    search.set(SEALED, vault.encrypt(Buffer.from(JSON.stringify(personal))).toString('base64url'));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function openVault(context: Context, request: Request): Vault {
  const session = readSessionCookie(context, request) ?? '';
  return createVault(createHmac('sha256', session).update('confere search').digest());
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
