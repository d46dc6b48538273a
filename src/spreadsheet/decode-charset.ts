const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Decodes the text of a file: UTF-8 or windows-1252, in which Excel and most banks write. Its label is not read: banks give the
 * other one. Bytes that are no UTF-8 in a text that has more letters of UTF-8 are letters that were cut: each becomes U+FFFD, and
 * the other letters stay. Takes time in proportion to the bytes.
 */
export function decodeCharset(bytes: Uint8Array): string {
  const isMarked = BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte);
  const rest = isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  const { letters, broken } = countLetters(rest);
  // by chance a text of windows-1252 hardly ever has a letter of UTF-8
  const isUtf8 = broken === 0 || letters >= broken;
  return new TextDecoder(isUtf8 ? 'utf-8' : 'windows-1252').decode(rest);
}

/** Counts letters of several bytes, and bytes that belong to none. */
function countLetters(bytes: Uint8Array): { letters: number; broken: number } {
  let [letters, broken] = [0, 0];
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOf(bytes[at] ?? 0);
    let end = at + 1;
    while (end < at + length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
    if (length > 1 && end === at + length) letters++;
    else if (length !== 1) broken++;
    at = end;
  }
  return { letters, broken };
}

/** The bytes of the letter that begins with this one; 0: none does. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}
