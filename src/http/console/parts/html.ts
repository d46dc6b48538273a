import { escapeMarkup } from '../../../domain/language/escape-markup.ts';
import { showUnseen } from '../../../domain/language/show-unseen.ts';
import type { Values } from '../../../texts/fill.ts';
import { findText, type Text } from '../../../texts/translate.ts';

/**
 * Markup with escaped values. A value in a template is text, unless it is markup of this tag. So no text of a payer, a
 * merchant or the provider can become an element. Attributes must be quoted. A value must never stand where the browser
 * reads code: an event attribute, a script, a style.
 *
 * Characters that cannot be seen are shown where people read a value, so that none passes for another one. What the browser
 * sends back or follows stays exact: fields, addresses, other attributes.
 */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type Html = Markup;
export type Part = Html | string | number | bigint | null | undefined | false | readonly Part[];

/** The zero of `count && …`, which would render as a stray "0". A figure that may be 0 has the type `number` or `bigint`. */
type StrayZero<T> = T extends 0 | 0n ? T : T extends readonly (infer One)[] ? Extract<One, 0 | 0n> : never;
type WithoutStrayZeros<P> = { [At in keyof P]: [StrayZero<P[At]>] extends [never] ? P[At] : Html };

/** A template of markup. null, undefined and false render as nothing, a list as its parts in order. */
export function html<P extends readonly Part[]>(
  strings: TemplateStringsArray,
  ...parts: P & WithoutStrayZeros<P>
): Html {
  const areRead = findRead(strings);
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) {
    text += render(part, areRead[index] === true) + (strings[index + 1] ?? '');
  }
  return new Markup(text);
}

/** Attributes whose values people read. */
const READ_ATTRIBUTES: ReadonlySet<string | undefined> = new Set(['title', 'alt', 'aria-label', 'placeholder']);
/** By template: the same in each call. */
const read = new WeakMap<readonly string[], boolean[]>();

/** Whether each value of a template is one that people read, by where it stands. */
function findRead(strings: readonly string[]): boolean[] {
  const known = read.get(strings);
  if (known) return known;
  let attribute: string | undefined;
  const found = strings.slice(0, -1).map((piece, index) => {
    const end = attribute === undefined ? 0 : piece.indexOf('"') + 1;
    // an attribute that goes on through this piece keeps its name
    if (attribute === undefined || end > 0) attribute = /(?<![\w-])([\w-]+)="[^"]*$/.exec(piece.slice(end))?.[1];
    if (attribute !== undefined) return READ_ATTRIBUTES.has(attribute);
    return !strings[index + 1]?.startsWith('</textarea>');
  });
  read.set(strings, found);
  return found;
}

/** A text of the catalogue that contains markup, with its values: each is text, unless it is markup. */
export function tHtml<T extends Text>(text: T, ...[values]: Values<T, Part>): Html {
  const named: Partial<Record<string, Part>> = values ?? {};
  // every other piece is a name
  const pieces = findText(text).split(/\{(\w+)\}/);
  const strings = pieces.filter((_, at) => at % 2 === 0);
  const parts = pieces.filter((_, at) => at % 2 === 1).map((name) => named[name]);
  // cast: html reads the pieces alone, and its type takes template literals only
  return html(strings as unknown as TemplateStringsArray, ...parts);
}

function render(part: Part, isRead: boolean): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map((one) => render(one, isRead)).join('');
  return escapeText(isRead ? showUnseen(String(part)) : String(part));
}

/** Markup that is not escaped: for our own documents alone, never for a value of anybody else. */
export function trustedHtml(text: string): Html {
  return new Markup(text);
}

function escapeText(text: string): string {
  return escapeMarkup(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
