/** Finds CPFs and CNPJs in a text by their check digits. Pure. */
import { normalizeDocument } from './fold-person.ts';
import { listJoinedDigits } from './list-joined-digits.ts';
import { findCandidates, listDecodedForms } from './match-person.ts';

const CPF = /^\d{11}$/;
/** With letters since July 2026; the check digits are always digits. */
const CNPJ = /^[0-9A-Z]{12}\d{2}$/;
const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
/** Punctuated like a document: counts as one even with wrong check digits. */
const WRITTEN = /(?<!\d)(?:\d{3}\.\d{3}\.\d{3}-\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})(?!\d)/gi;
/** Digits with separators of documents. Spaces and colons are excluded: they would join a date and a time. */
const NUMBER = /\d[\d./-]{9,}\d/g;

/** @param plain normalized: no punctuation, capital letters. @returns whether the check digits are right. */
export function isValidDocument(plain: string): boolean {
  if (repeatsOne(plain)) return false;
  if (CPF.test(plain)) return hasCheckDigits(plain, 0, CPF_WEIGHTS);
  return CNPJ.test(plain) && hasCheckDigits(plain, 0, CNPJ_WEIGHTS);
}

function repeatsOne(plain: string): boolean {
  return plain !== '' && plain === plain.charAt(0).repeat(plain.length);
}

/** @param base the nine digits of a CPF before its check digits. */
export function completeCpf(base: string): string {
  const first = `${base}${digitOf(base, 0, CPF_WEIGHTS, 1)}`;
  return `${first}${digitOf(first, 0, CPF_WEIGHTS)}`;
}

/**
 * Returns the documents in a text, normalized, the most likely first: separate ones, then punctuated ones, then those
 * inside a longer number (`55<cpf>`, `2026<cpf>01`), from its end, then those with letters between the digits. Also finds encoded ones (see `listDecodedForms`). One
 * in a hundred numbers of a document's length has valid check digits by chance.
 */
export function findDocuments(text: string): string[] {
  const found = new Set<string>();
  const readings = listDecodedForms(text);
  for (const { document } of findCandidates(text, readings)) {
    if (document !== undefined && isValidDocument(document)) found.add(document);
  }
  for (const reading of readings) {
    for (const [document] of reading.matchAll(WRITTEN)) found.add(normalizeDocument(document) ?? document);
    for (const document of findWithinNumbers(reading)) found.add(document);
    for (const digits of listJoinedDigits(reading)) if (isValidDocument(digits)) found.add(digits);
  }
  return [...found];
}

/** Yields the documents inside the numbers of a decoded text, from the end of each. */
export function* findWithinNumbers(reading: string): Generator<string, void, undefined> {
  for (const [number] of reading.matchAll(NUMBER)) {
    const digits = number.replace(/\D/g, '');
    for (const weights of [CPF_WEIGHTS, CNPJ_WEIGHTS]) {
      const length = weights.length + 1;
      for (let start = digits.length - length; start >= 0; start--) {
        // hostile bodies are one number: cut out only what is valid
        if (!hasCheckDigits(digits, start, weights)) continue;
        const document = digits.slice(start, start + length);
        if (!repeatsOne(document)) yield document;
      }
    }
  }
}

/** @param weights those of the last check digit; the first check digit has all but the first of them. */
function hasCheckDigits(text: string, start: number, weights: readonly number[]): boolean {
  const end = start + weights.length;
  return (
    valueAt(text, end - 1) === digitOf(text, start, weights, 1) && valueAt(text, end) === digitOf(text, start, weights)
  );
}

/** @param skipped how many of the weights are left out, from the first. */
function digitOf(text: string, start: number, weights: readonly number[], skipped = 0): number {
  let sum = 0;
  for (let at = skipped; at < weights.length; at++) sum += valueAt(text, start + at - skipped) * (weights[at] ?? 0);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

function valueAt(text: string, index: number): number {
  return text.charCodeAt(index) - 48;
}
