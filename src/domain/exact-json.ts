/**
 * JSON from others, read without a loss: a number that JavaScript would print otherwise keeps its text. As a double,
 * 12345678901234567891 and 12345678901234567892 are one number, and 10.999…9 is 11.
 */

/** A number that keeps its text. `JSON.stringify` writes it as it was. */
type ExactNumber = { rawJSON: string };

// in Node 24, and not yet in TypeScript's library
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON: (this: void, text: string) => ExactNumber;
  isRawJSON: (this: void, value: unknown) => value is ExactNumber;
};

/** Deeper JSON is rejected, or handled as plain text. */
export const DEPTH_MAX = 32;

/** Stops at the limit: a body of 100,000 brackets must not exhaust the stack. */
export function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}

/** Finds too many (within texts), never too few. */
const INEXACT = /[:[,]\s*-?(?:\d{1,15}[\d.eE]|(?<=-)0)/;
const INTEGER_KEY = /^(?:0|[1-9]\d{0,8})$/;

/** Whether a JSON text may hold a number that JavaScript would print otherwise. */
export function hasInexactNumber(text: string): boolean {
  return INEXACT.test(text);
}

/**
 * Parses JSON.
 * @param isKept leaves out a value that it returns false for; without it all stay.
 * @throws SyntaxError; RangeError where inexact numbers stand in a text that is nested thousands deep.
 */
export function parseExactJson(text: string, isKept?: (name: string, value: unknown) => boolean): unknown {
  if (!hasInexactNumber(text)) return isKept ? restore(JSON.parse(text), undefined, isKept) : JSON.parse(text);
  // a reviver of JSON.parse takes ten times as long: 0.4 s for a quarter of a megabyte of `-0`
  const numbers: (number | ExactNumber)[] = [];
  return restore(JSON.parse(replaceNumbers(text, numbers)), numbers, isKept);
}

const QUOTE = 34;
const BACKSLASH = 92;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_CHARS = new Set([...'+-.eE0123456789'].map((char) => char.charCodeAt(0)));

/** Replaces each number of a JSON text by its index in `numbers`, which it fills. A text that is no JSON stays none. */
function replaceNumbers(text: string, numbers: (number | ExactNumber)[]): string {
  let replaced = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    // a number begins with a minus or a digit
    else if (code === 45 || (code >= 48 && code <= 57)) {
      const start = at;
      while (NUMBER_CHARS.has(text.charCodeAt(at + 1))) at++;
      const source = text.slice(start, at + 1);
      // JSON.parse refuses it
      if (!NUMBER.test(source)) continue;
      replaced += text.slice(copied, start) + numbers.length;
      copied = at + 1;
      const number = Number(source);
      numbers.push(String(number) === source ? number : rawJSON(source));
    }
  }
  return replaced + text.slice(copied);
}

/** @returns where the quote is that ends a string of JSON; the text's length without one. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** Puts numbers back in the place of their indexes, and leaves out values as a reviver of JSON.parse does. */
function restore(
  value: unknown,
  numbers: readonly (number | ExactNumber)[] | undefined,
  isKept: ((name: string, value: unknown) => boolean) | undefined,
): unknown {
  if (typeof value === 'number') return numbers ? numbers[value] : value;
  if (typeof value !== 'object' || value === null) return value;
  const put = <Name extends string | number>(holder: Record<Name, unknown>, name: Name): void => {
    const one = restore(holder[name], numbers, isKept);
    if (isKept?.(String(name), one) === false) delete holder[name];
    else holder[name] = one;
  };
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) put(value, at);
  else for (const name of Object.keys(value)) put(value as Record<string, unknown>, name);
  return value;
}

/** The text of a text, a number (its digits as they were) or a boolean; of anything else undefined. */
export function readScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isRawJSON(value) ? value.rawJSON : undefined;
}

/** The text of a text or a number, as `readScalar` returns it. */
export function readTextOrNumber(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : readScalar(value);
}

/** Whether a value is an object with names of its own: no list, no number. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/**
 * The values of a list. PHP writes a list with gaps as an object whose names are integers: its values, in their order.
 * @returns undefined where it is neither.
 */
export function readList(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length === 0 || !keys.every((key) => INTEGER_KEY.test(key))) return undefined;
  // an object's integer names stand in their order
  return Object.values(value);
}

/**
 * One text for equal objects or lists, in any order of their names and with any blanks (names sorted by UTF-16 units;
 * inexact numbers as they were). An empty one is an empty text: PHP's form of nothing.
 * @returns undefined where the value is neither, or deeper than DEPTH_MAX.
 */
export function readCanonicalJson(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || isRawJSON(value)) return undefined;
  if (Object.keys(value).length === 0) return '';
  return isDeeperThan(value, DEPTH_MAX) ? undefined : writeCanonical(value);
}

function writeCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${writeCanonical(value[name])}`).join(',')}}`;
}
