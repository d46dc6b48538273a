/** Texts in both languages, side by side: one that a language lacks does not compile. */
import { LANGUAGES, type Language } from '../domain/language/language.ts';

/** A text in each of `LANGUAGES`. */
export type Both = readonly [ptBr: string, en: string];

/** Texts of the same names in one language. */
export type InOne<T> = { [Name in keyof T]: T[Name] extends Both ? string : InOne<T[Name]> };

export function inOne<T extends object>(texts: T, language: Language): InOne<T> {
  const side = LANGUAGES.indexOf(language);
  const chosen = Object.entries(texts).map(([name, text]: [string, Both | object]) => {
    return [name, Array.isArray(text) ? text[side] : inOne(text, language)];
  });
  return Object.fromEntries(chosen) as InOne<T>;
}
