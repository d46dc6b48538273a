/** Texts within bytes and texts: UTF-16 and base64, however they are aligned. Pure. */

/** Encodes six bytes: shorter values identify nobody. */
const BASE64_CHARS_MIN = 8;
const BASE64_RUN = new RegExp(`[A-Za-z0-9+/_-]{${BASE64_CHARS_MIN},}`, 'g');
const BASE64_PHASES = [0, 1, 2, 3];
/** Readable stretches. Text that decodes to noise has hardly any, so noise is not searched. */
const PLAIN_STRETCH = /[\t\n\r\x20-\x7e\u00a0-\u024f\p{Nd}]{5,}/gu;
const UTF16_STRETCH = /(?:[\t\n\r -~]\0){4}|(?:\0[\t\n\r -~]){4}/;
/** Share of NULs that marks UTF-16: almost half of the bytes in Latin text, but few in binary lengths. */
const NULS_OF_UTF16 = 0.35;

// not Buffer's decoder: with an odd offset and length, that of Node 24.21 writes out of bounds
const DECODERS = { little: new TextDecoder('utf-16le'), big: new TextDecoder('utf-16be') };

/** Whether bytes are UTF-16: they have its byte order mark, or enough NULs. */
export function isUtf16(bytes: Buffer): boolean {
  return readByteOrder(bytes) !== undefined;
}

/** Decodes bytes as UTF-16 if they are, else as UTF-8. */
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
  const nuls: [number, number] = [0, 0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) nuls[at % 2 === 0 ? 0 : 1]++;
  const [even, odd] = nuls;
  if (Math.max(even, odd) < NULS_OF_UTF16 * bytes.length) return undefined;
  return odd > even ? 'little' : 'big';
}

/** Whether a text that was decoded as UTF-8 contains UTF-16. Its accented letters are lost. */
export function holdsUtf16(text: string): boolean {
  return text.includes('\0') && UTF16_STRETCH.test(text);
}

/**
 * Returns the readable texts inside the base64 of a text: both alphabets, also with line breaks. A run may start in the
 * middle of other base64 characters: all four alignments are tried, as UTF-8 and as UTF-16 of both byte orders.
 */
export function decodeBase64(text: string): string[] {
  // digits alone decode to neither letters nor digits
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
