/** Decodes the text of a file: UTF-8, else windows-1252, in which Excel and most banks write. A label in it is not read. */
export function decodeCharset(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
