/** CPFs and CNPJs in a text, told by their check digits. Pure. */
import { normalizeDocument } from './fold-person.ts';
import { findCandidates, listDecodedForms } from './match-person.ts';

const CPF = /^\d{11}$/;
/** Letters too, since July 2026; the check digits are digits. */
const CNPJ = /^[0-9A-Z]{12}\d{2}$/;
const ONE_CHARACTER = /^(.)\1*$/;
const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
const DIGITS_OF = [11, 14];
/** Written as a document: it is meant as one, whatever its check digits. */
const WRITTEN = /(?<!\d)(?:\d{3}\.\d{3}\.\d{3}-\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})(?!\d)/gi;
/** Digits with what stands between those of a document; spaces and colons would make one number of a date and a time. */
const NUMBER = /\d[\d./-]{9,}\d/g;

/** @param plain without punctuation, letters in capitals. @returns whether its check digits are right. */
export function isValidDocument(plain: string): boolean {
  if (ONE_CHARACTER.test(plain)) return false;
  if (CPF.test(plain)) return plain.endsWith(checkDigits(plain.slice(0, 9), CPF_WEIGHTS));
  return CNPJ.test(plain) && plain.endsWith(checkDigits(plain.slice(0, 12), CNPJ_WEIGHTS));
}

/**
 * The documents that a text is or holds, normalized, the likeliest first: those that stand alone, then those that are
 * written as one, then those within a longer number (`55<cpf>`, `2026<cpf>01`), from its end on. Encoded ones too (see `listReadings`). One number in a
 * hundred of a document's length has the right check digits by chance.
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
