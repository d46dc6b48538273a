/** Column sizes of a transaction's text fields, in bytes. */
export const TEXT_BYTES_MAX = {
  reference: 512,
  extra: 2048,
  platform: 64,
  e2e_id: 128,
  name: 1024,
  email: 1024,
  phone: 256,
  document: 256,
  description: 4096,
  pix_key: 512,
} as const;
export type TextField = keyof typeof TEXT_BYTES_MAX;

/** Bytes of a transaction's id. */
export const ID_BYTES_MAX = 64;
export const STATUS_BYTES_MAX = 64;

/** Marks the end of a truncated text. */
const CUT_MARK = '…';

/**
 * Returns the form in which a text is stored and searched: well-formed Unicode (a lone surrogate becomes U+FFFD). A text
 * longer than its column is cut at a character and ends in `…`. The function is idempotent.
 */
export function truncateText(text: string, bytesMax: number): string {
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(wellFormed) <= bytesMax) return wellFormed;
  // no character of UTF-8 begins with the bits 10
  const bytes = Buffer.from(wellFormed.slice(0, bytesMax));
  let end = bytesMax - Buffer.byteLength(CUT_MARK);
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}${CUT_MARK}`;
}
