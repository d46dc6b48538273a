/** Texts within bytes and texts: UTF-16 and base64, however they are aligned. Pure. */

/** Six bytes: shorter ones tell of nobody. */
const BASE64_CHARS_MIN = 8;
const BASE64_RUN = new RegExp(`[A-Za-z0-9+/_-]{${BASE64_CHARS_MIN},}`, 'g');
const BASE64_PHASES = [0, 1, 2, 3];
/** What decodes to noise holds hardly any: noise is not gone through. */
const PLAIN_STRETCH = /[\t\n\r\x20-\x7e\u00a0-\u024f\p{Nd}]{5,}/gu;
const UTF16_STRETCH = /(?:[\t\n\r -~]\0){4}|(?:\0[\t\n\r -~]){4}/;
/** The share of NULs: almost every other byte of Latin text in UTF-16, few of a record's lengths. */
const NULS_OF_UTF16 = 0.35;

// not Buffer's own: from an odd offset, of an odd length, that of Node 24.21 writes past its memory
const DECODERS = { little: new TextDecoder('utf-16le'), big: new TextDecoder('utf-16be') };

/** Bytes as a text: of UTF-8, or of UTF-16, which its mark or its NULs tell. */
export function decodeText(bytes: Buffer): string {
  const order = readByteOrder(bytes);
  if (order === undefined) return bytes.toString('utf8');
  return DECODERS[order].decode(bytes);
}

function readByteOrder(bytes: Buffer): 'little' | 'big' | undefined {
  if (bytes.length < 2) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'little';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'big';
  if (!bytes.includes(0)) return undefined;
  const nuls = [0, 0];
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = nuls;
  if (Math.max(even, odd) < NULS_OF_UTF16 * bytes.length) return undefined;
  return odd > even ? 'little' : 'big';
}

/** Whether UTF-16 stands in a text that was read as UTF-8: its letters with marks are lost. */
export function holdsUtf16(text: string): boolean {
  return text.includes('\0') && UTF16_STRETCH.test(text);
}

/**
 * What whoever decodes the text's base64 may read, of either alphabet, broken into lines too. A run may begin in the
 * middle of what looks like one: each of the four alignments is tried, as UTF-8 and as UTF-16 of either order.
 */
export function decodeBase64(text: string): string[] {
  // digits alone decode to no letter and no digit
  const runs = (text.replace(/\s+/g, '').match(BASE64_RUN) ?? []).filter((run) => /[A-Za-z]/.test(run));
  if (runs.length === 0) return [];
  const found: string[] = [];
  for (const phase of BASE64_PHASES) {
    const decoded = runs.map((run) => Buffer.from(run.slice(phase), 'base64'));
    found.push(joinPlain(decoded.map((bytes) => bytes.toString('utf8'))));
    const wide = decoded.filter((bytes) => bytes.includes(0));
    for (const decoder of Object.values(DECODERS)) {
      for (const start of [0, 1]) found.push(joinPlain(wide.map((bytes) => decoder.decode(bytes.subarray(start)))));
    }
  }
  return found.filter((one) => one !== '');
}

function joinPlain(texts: string[]): string {
  return texts.flatMap((text) => text.match(PLAIN_STRETCH) ?? []).join('\n');
}
