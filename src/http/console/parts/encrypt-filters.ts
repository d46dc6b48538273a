/**
 * A filter that may name a person stands in no address: browsers' histories, proxies and logs keep those. The search's
 * form is posted, and leads to an address that carries such filters encrypted, with a key that follows from the
 * session's cookie: it tells nobody else anything, and nothing at all once that session is over. The others stand as
 * they are, so that a list can be kept and sent on.
 */
import { createHmac } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { createVault, type Vault } from '../../../database/keys/vault.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { parseFilters } from './parse-filters.ts';
import { PERSONAL_FILTERS } from './remove-personal-filters.ts';
import { readSessionCookie } from './require-session.ts';

type Given = Record<string, unknown>;

const SEALED = 'sealed';
const FORM_TOKEN = 'form_token';

/**
 * Leads a posted search, and an address that someone wrote such a filter into, on to the address that hides it.
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
    const given: Given = posted
      ? { ...(request.body as Given | undefined) }
      : // what was sealed before stays, but for what is typed anew
        {
          ...decryptFilters(context, request),
          ...Object.fromEntries(typed.map((name) => [name, request.query[name]])),
        };
    // before it is sealed: an address has no room for more than a field takes
    parseFilters(given, schema);
    response.redirect(303, sealAddress(vaultOf(context, request), request.path, given));
  };
}

/**
 * The filters in a page's address, with the sealed ones opened.
 * @throws ConfereError `invalid_request` when another session sealed them: a lost filter must not look like none.
 */
export function decryptFilters(context: Context, request: Request): Given {
  const { [SEALED]: sealed, ...plain } = request.query;
  if (sealed === undefined) return plain;
  try {
    if (!isGiven(sealed)) throw new TypeError('sealed is not one text');
    const text = vaultOf(context, request).decrypt(Buffer.from(sealed, 'base64url')).toString();
    return { ...plain, ...(JSON.parse(text) as Given) };
  } catch (error) {
    const fields = { busca: ['valia só para a sessão em que foi feita; faça-a de novo'] };
    throw new ConfereError('invalid_request', 'this search ended with its session: search again', {
      fields,
      cause: error,
    });
  }
}

function sealAddress(vault: Vault, path: string, given: Given): string {
  const search = new URLSearchParams();
  const personal: Given = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isGiven(value) || name === FORM_TOKEN || name === SEALED) continue;
    if (PERSONAL_FILTERS.includes(name)) personal[name] = value;
    else search.set(name, value);
  }
  if (Object.keys(personal).length > 0) {
    search.set(SEALED, vault.encrypt(Buffer.from(JSON.stringify(personal))).toString('base64url'));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function vaultOf(context: Context, request: Request): Vault {
  const session = readSessionCookie(context, request) ?? '';
  return createVault(createHmac('sha256', session).update('confere search').digest());
}

function isGiven(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
