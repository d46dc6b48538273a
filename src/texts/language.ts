/**
 * The language of the request that is being answered. `parts/choose-language.ts` decides it once; texts, amounts and dates
 * are rendered in it, and no function passes it on (decision 0057). Outside a request of the console it is pt-BR.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LANGUAGES, type Language } from '../domain/language/language.ts';

const SOURCE_LANGUAGE = LANGUAGES[0];
const storage = new AsyncLocalStorage<Language>();

export function language(): Language {
  return storage.getStore() ?? SOURCE_LANGUAGE;
}

/** Runs work, and everything that it starts, in a language. */
export function runInLanguage<T>(chosen: Language, work: () => T): T {
  return storage.run(chosen, work);
}

export function isLanguage(value: unknown): value is Language {
  return (LANGUAGES as readonly unknown[]).includes(value);
}
