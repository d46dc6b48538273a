/**
 * The texts of the console. A text stands in the code in pt-BR; the catalogue in `console/` has its English. The compiler
 * refuses a text that the catalogue lacks, and a value that the text does not name: `t('{n} vezes', { n })`.
 * A text with markup is rendered by `tHtml` of the console. Components such as `table` translate their labels.
 */
import { groupThousands } from '../domain/money.ts';
import { EN } from './console/catalogue.ts';
import { fill, type Value, type Values } from './fill.ts';
import { language } from './language.ts';

export type Text = keyof typeof EN;
/** A text without values. */
export type PlainText = Exclude<Text, `${string}{${string}`>;

declare const translated: unique symbol;
/** A text in the language of the request. */
export type Translated = string & { readonly [translated]: true };

/** A text that a component translates: of the catalogue, or translated already. */
export type Label = PlainText | Translated | '';

/** Returns a text in the language of the request, with its values. */
export function t<T extends Text>(text: T, ...[values]: Values<T>): Translated {
  return fill(findText(text), values ?? {}) as Translated;
}

/** Returns the text for one, or for any other count, which it has as `{n}`. */
export function plural<One extends Text, Many extends Text>(
  count: number,
  one: One,
  many: Many,
  ...[values]: Values<One | Many, Value, 'n'>
): Translated {
  const n = groupThousands(String(count), language());
  return fill(findText(count === 1 ? one : many), { ...values, n }) as Translated;
}

/** Returns the words of codes. Each is read in the language of the request, so a constant can hold them. */
export function words<Code extends string>(texts: Record<Code, PlainText>): Record<Code, Translated> {
  const codes = Object.keys(texts) as Code[];
  return wordsBy(codes, (code) => translate(texts[code]));
}

/** Returns words that another catalogue has. @param read returns a code's word in the language of the request. */
export function wordsBy<Code extends string>(
  codes: readonly Code[],
  read: (code: Code) => string,
): Record<Code, Translated> {
  const entries = codes.map((code) => [code, { enumerable: true, get: () => read(code) }] as const);
  return Object.defineProperties(Object.create(null), Object.fromEntries(entries)) as Record<Code, Translated>;
}

/** Returns a component's label in the language of the request. */
export function translate(label: Label): Translated {
  return findText(label) as Translated;
}

/** A text of others that stands in the place of a label, such as the name of an HTTP header: it is in no language. */
export function untranslated(text: string): Translated {
  return text as Translated;
}

/** Returns a text in the language of the request, with the names of its values. A translated one stays as it is. */
export function findText(text: Text | Label): string {
  return language() === 'en' && Object.hasOwn(EN, text) ? EN[text as Text] : text;
}
