/**
 * What may name anyone, for who may not see personal data. Whom a note names can't be told from its text, and a plain
 * hash of an extra that is a document is found by trying all documents: both are withheld whole. Of evidence each text
 * goes that holds a document, or repeats what is masked of the transactions that it is about. Pure.
 */
import { maskText, type Party, WITHHELD } from './mask-person.ts';

/** How mismatches hold an extra. */
const HASH = /\bsha256:[0-9a-f]{64}\b/g;
/** Times, ids of ours and amounts hold digits too, and name nobody. */
const PLAIN =
  /^(?:-?\d{1,7}\.\d\d|\d{4}-\d\d-\d\d(?:[ T][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** What a person wrote. */
export function maskNote<T extends string | null | undefined>(note: T): T | string {
  return note ? WITHHELD : note;
}

type Evident = { reference: string | null; note: string | null; expected: unknown; actual: unknown };

/**
 * A mismatch, masked.
 * @param of those of the transactions that it names, see `listNamed`.
 */
export function maskMismatch<T extends Evident>(mismatch: T, of: Party[]): T {
  return {
    ...mismatch,
    reference: maskText(mismatch.reference, ...of),
    note: maskNote(mismatch.note),
    expected: maskEvidence(mismatch.expected, of),
    actual: maskEvidence(mismatch.actual, of),
  };
}

/** The ids of the transactions that a mismatch is about: its own, and those that share a reference. */
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
