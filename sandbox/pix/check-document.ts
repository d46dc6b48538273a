const CPF_SHAPE = /^(?:\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/;
// Since July 2026 the first twelve characters of a CNPJ may be letters: never read one as a number.
const CNPJ_SHAPE = /^(?:[0-9A-Z]{12}\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})$/;
const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** Returns whether a text is a CPF with valid check digits, with or without punctuation. */
export function isCpf(text: string): boolean {
  if (!CPF_SHAPE.test(text)) return false;
  const bare = normalizeDocument(text);
  return !/^(.)\1*$/.test(bare) && bare.endsWith(checkDigits(bare.slice(0, 9), CPF_WEIGHTS));
}

/** Returns whether a text is a CNPJ, numeric or alphanumeric, with valid check digits, with or without punctuation. */
export function isCnpj(text: string): boolean {
  if (!CNPJ_SHAPE.test(text)) return false;
  const bare = normalizeDocument(text);
  return !/^(.)\1*$/.test(bare) && bare.endsWith(checkDigits(bare.slice(0, 12), CNPJ_WEIGHTS));
}

/** Returns the document without punctuation. */
export function normalizeDocument(text: string): string {
  return text.replace(/[./-]/g, '');
}

/** Returns the two check digits for the nine digits of a CPF. */
export function cpfCheckDigits(base: string): string {
  return checkDigits(base, CPF_WEIGHTS);
}

/** Returns the two check digits for the twelve characters of a CNPJ. */
export function cnpjCheckDigits(base: string): string {
  return checkDigits(base, CNPJ_WEIGHTS);
}

function checkDigits(base: string, weights: readonly number[]): string {
  const values = [...base].map((character) => character.charCodeAt(0) - 48);
  const first = digitOf(values, weights.slice(1));
  return `${first}${digitOf([...values, first], weights)}`;
}

function digitOf(values: readonly number[], weights: readonly number[]): number {
  const rest = values.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0) % 11;
  return rest < 2 ? 0 : 11 - rest;
}
