/**
 * What may name anyone, for who may not see personal data. Whom a note names can't be told from its text, and a plain
 * hash of an extra that is a document is found by trying all documents: both are withheld whole.
 */
const WITHHELD = '***';
/** How mismatches hold an extra. */
const HASH = /\bsha256:[0-9a-f]{64}\b/g;

/** What a person wrote. */
export function maskNote<T extends string | null | undefined>(note: T): T | string {
  return note ? WITHHELD : note;
}

/** The text of a mismatch's evidence, without its hashes. */
export function maskEvidence<T extends string | null>(json: T): T | string {
  return json === null ? json : json.replaceAll(HASH, `sha256:${WITHHELD}`);
}

/** A mismatch as our API shows it, masked. */
export function maskMismatch<T extends { note: string | null; expected: unknown; actual: unknown }>(mismatch: T): T {
  const mask = (evidence: unknown): unknown =>
    evidence === null ? null : (JSON.parse(maskEvidence(JSON.stringify(evidence))) as unknown);
  return {
    ...mismatch,
    note: maskNote(mismatch.note),
    expected: mask(mismatch.expected),
    actual: mask(mismatch.actual),
  };
}
