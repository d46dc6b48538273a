import type { z } from 'zod';
import { parseCents } from '../domain/money.ts';
import type { Operation } from '../domain/statuses.ts';
import type { Switches } from '../faults/switches.ts';
import { isCnpj, isCpf, normalizeDocument } from '../pix/check-document.ts';
import { isValidKey } from '../pix/check-key.ts';
import type { Charge } from '../traffic/make-charge.ts';
import { type CashinRequest, type CashoutRequest, cashinSchema, cashoutSchema } from './creation-schema.ts';
import { ApiError, createFieldError, ERROR_CODES, type FieldErrors } from './handle-error.ts';

const AMOUNT_CENTS_MAX = 99_999_999_999n;

/**
 * Checks a request to create: first the form of all fields (all errors at once, by name), then the provider's business
 * rules, with their error numbers. Throws ApiError 422.
 */
export function checkCharge(operation: Operation, body: unknown, { creation }: Switches): Charge {
  if (operation === 'cashin') return chargeOf('cashin', checkForm(cashinSchema, body), creation);
  const asked = checkForm(cashoutSchema, body);
  return { ...chargeOf('cashout', asked, creation), pixKey: checkKey(asked, creation) };
}

function chargeOf(operation: Operation, asked: CashinRequest, creation: Switches['creation']): Charge {
  const amountCents = checkAmount(asked.amount, creation);
  checkPlatform(asked.platform, creation);
  checkDocument(asked.document, creation);
  const { name, email, phone, document, description, platform, reference, extra } = asked;
  const optional = { reference: reference || null, extra: extra ?? null, pixKey: null };
  return { operation, amountCents, name, email, phone, document, description, platform, ...optional };
}

function checkForm<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const given = typeof body === 'object' && body !== null ? body : {};
  const errors: FieldErrors = {};
  for (const { path, message } of result.error.issues) {
    const field = String(path[0] ?? 'body');
    const missing = !(field in given) || Reflect.get(given, field) === null;
    const text = `The ${field} field ${missing ? 'is required' : message}.`;
    errors[field] = [...new Set([...(errors[field] ?? []), text])];
  }
  throw createFieldError(
    errors,
    'key_type' in errors && Object.keys(errors).length === 1 ? ERROR_CODES.badKeyType : 422,
  );
}

function checkAmount(text: string, creation: Switches['creation']): bigint {
  const cents = parseCents(text);
  if (cents === null)
    throw createFieldError({ amount: ['The amount field must be a positive number with at most two decimals.'] });
  if (cents > AMOUNT_CENTS_MAX) throw createFieldError({ amount: ['The amount field is too large.'] });
  if (cents < BigInt(creation.minimum_cents)) {
    const message = 'The amount is below the minimum.';
    throw new ApiError(422, ERROR_CODES.belowMinimum, message, { amount: [message] });
  }
  return cents;
}

function checkPlatform(platform: string, { platforms }: Switches['creation']): void {
  if (platforms.length === 0 || platforms.includes(platform)) return;
  throw new ApiError(422, ERROR_CODES.badPlatform, 'Unknown platform.', { platform: ['Unknown platform.'] });
}

function checkDocument(document: string, { documents, blocked_documents }: Switches['creation']): void {
  if (documents === 'checked' && !isCpf(document) && !isCnpj(document)) {
    const message = 'The document is not a valid CPF or CNPJ.';
    throw new ApiError(422, ERROR_CODES.badDocument, message, { document: [message] });
  }
  if (blocked_documents.includes(normalizeDocument(document))) {
    throw new ApiError(422, ERROR_CODES.documentBlocked, 'The document is blocked.', {
      document: ['The document is blocked.'],
    });
  }
}

function checkKey({ pix_key, key_type, document }: CashoutRequest, creation: Switches['creation']): string {
  if (creation.keys === 'checked' && !isValidKey(key_type, pix_key)) {
    const message = `The pix_key is not a valid key of type ${key_type}.`;
    throw new ApiError(422, ERROR_CODES.badKey, message, { pix_key: [message] });
  }
  const isDocument = key_type === 'CPF' || key_type === 'CNPJ';
  if (creation.key_of_document && isDocument && normalizeDocument(pix_key) !== normalizeDocument(document)) {
    const message = 'The pix_key does not belong to the document.';
    throw new ApiError(422, ERROR_CODES.keyOfAnother, message, { pix_key: [message] });
  }
  return pix_key;
}
