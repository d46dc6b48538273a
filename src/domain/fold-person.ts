/** A document as it is compared: letters in capitals and digits, nothing else. Null where none is left. */
export function normalizeDocument(document: string | null): string | null {
  const plain = (document ?? '').replace(/[^0-9A-Za-z]/g, '').toUpperCase();
  return plain === '' ? null : plain;
}

/** A name as it is searched: without case and accents, one space between words. `JOÃO  da Silva` is `joao da silva`. */
export function foldName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
