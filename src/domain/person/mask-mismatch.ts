/**
 * Masks mismatches for roles that don't see personal data. A note may name anyone, and a plain hash of an extra that is a
 * document can be brute-forced: both are withheld as a whole. In evidence, a text is withheld if it holds a document, or
 * repeats a masked value of the transactions that the mismatch is about. Pure.
 */
import { maskPlatform, maskText, type Party, WITHHELD } from './mask-person.ts';

/** The form of an extra in mismatches. */
const HASH = /\bsha256:[0-9a-f]{64}\b/g;
/** Times, ids and amounts: they have digits, but identify nobody. */
const PLAIN =
  /^(?:-?\d{1,7}\.\d\d|\d{4}-\d\d-\d\d(?:[ T][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Withholds a note. */
export function maskNote<T extends string | null | undefined>(note: T): T | string {
  return note ? WITHHELD : note;
}

type Evident = Record<'platform' | 'reference' | 'note', string | null> & { expected: unknown; actual: unknown };

/**
 * Masks a mismatch.
 * @param of the parties of the transactions that it names, see `listTransactionIds`.
 */
export function maskMismatch<T extends Evident>(mismatch: T, of: Party[]): T {
  return {
    ...mismatch,
    platform: maskPlatform(mismatch.platform, ...of),
    reference: maskText(mismatch.reference, ...of),
    note: maskNote(mismatch.note),
    expected: maskEvidence(mismatch.expected, of),
    actual: maskEvidence(mismatch.actual, of),
  };
}

/** @returns the ids of the transactions that a mismatch is about: its own, and those that share a reference. */
export function listTransactionIds(mismatch: { transaction_id: string | null; actual: unknown }): string[] {
  const { ids } = (mismatch.actual ?? {}) as { ids?: unknown };
  return [mismatch.transaction_id, ...(Array.isArray(ids) ? ids : [])].filter((id) => typeof id === 'string');
}

function maskEvidence(value: unknown, of: Party[]): unknown {
  if (typeof value === 'string')
    return PLAIN.test(value) ? value : maskText(value.replaceAll(HASH, `sha256:${WITHHELD}`), ...of);
  if (typeof value === 'number') return maskText(String(value), ...of) === WITHHELD ? WITHHELD : value;
  if (Array.isArray(value)) return value.map((one) => maskEvidence(one, of));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskEvidence(one, of)]));
}
