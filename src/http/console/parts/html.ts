import { findText, type Text, type Values } from '../languages/translate.ts';

/**
 * Markup with escaped values. A value in a template is text, unless it is markup of this tag. So no text of a payer, a
 * merchant or the provider can become an element. Attributes must be quoted. A value must never stand where the browser
 * reads code: an event attribute, a script, a style.
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

/** A template of markup. null, undefined and false render as nothing, a list as its parts in order. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) text += render(part) + (strings[index + 1] ?? '');
  return new Markup(text);
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

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return escapeText(String(part));
}

/** Markup that is not escaped: for our own documents alone, never for a value of anybody else. */
export function trustedHtml(text: string): Html {
  return new Markup(text);
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}
