/** Finds CPFs and CNPJs in a text by their check digits. Pure. */
import { normalizeDocument } from './fold-person.ts';
import { findCandidates, listDecodedForms } from './match-person.ts';

const CPF = /^\d{11}$/;
/** With letters since July 2026; the check digits are always digits. */
const CNPJ = /^[0-9A-Z]{12}\d{2}$/;
const ONE_CHARACTER = /^(.)\1*$/;
const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const DIGITS_OF = [11, 14];
/** Punctuated like a document: counts as one even with wrong check digits. */
const WRITTEN = /(?<!\d)(?:\d{3}\.\d{3}\.\d{3}-\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})(?!\d)/gi;
/** Digits with separators of documents. Spaces and colons are excluded: they would join a date and a time. */
const NUMBER = /\d[\d./-]{9,}\d/g;

/** @param plain normalized: no punctuation, capital letters. @returns whether the check digits are right. */
export function isValidDocument(plain: string): boolean {
  if (ONE_CHARACTER.test(plain)) return false;
  if (CPF.test(plain)) return plain.endsWith(checkDigits(plain.slice(0, 9), CPF_WEIGHTS));
  return CNPJ.test(plain) && plain.endsWith(checkDigits(plain.slice(0, 12), CNPJ_WEIGHTS));
}

/**
 * Returns the documents in a text, normalized, the most likely first: separate ones, then punctuated ones, then those
 * inside a longer number (`55<cpf>`, `2026<cpf>01`), from its end. Also finds encoded ones (see `listDecodedForms`). One
 * in a hundred numbers of a document's length has valid check digits by chance.
 */
export function findDocuments(text: string): string[] {
  const found = new Set<string>();
  for (const { document } of findCandidates(text)) {
    if (document !== undefined && isValidDocument(document)) found.add(document);
  }
  for (const reading of listDecodedForms(text)) {
    for (const [document] of reading.matchAll(WRITTEN)) found.add(normalizeDocument(document) ?? document);
    for (const [number] of reading.matchAll(NUMBER)) {
      const digits = number.replace(/\D/g, '');
      for (const length of DIGITS_OF) {
        for (let end = digits.length; end >= length; end--) {
          const document = digits.slice(end - length, end);
          if (isValidDocument(document)) found.add(document);
        }
      }
    }
  }
  return [...found];
}

function checkDigits(base: string, weights: readonly number[]): string {
  const values = Array.from(base, (character) => character.charCodeAt(0) - 48);
  const first = digitOf(values, weights.slice(1));
  return `${first}${digitOf([...values, first], weights)}`;
}

function digitOf(values: readonly number[], weights: readonly number[]): number {
  const rest = values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0) % 11;
  return rest < 2 ? 0 : 11 - rest;
}
