/**
 * Messages of the program by their names: `message('provider.answered', { status })`. English is for the API, the command line
 * and the log. The console says a message in the language of the request, from its name and values: no text is recognized.
 * Pure.
 */
import { ConfereError, type ErrorCode, type Message } from '../domain/errors.ts';
import type { Language } from '../domain/language/language.ts';
import { fill, type Values } from './fill.ts';
import { MESSAGES_EN } from './messages-en.ts';
import { MESSAGES_PT_BR } from './messages-pt-br.ts';

type Catalogue = typeof MESSAGES_EN;
type MessageName = keyof Catalogue;
/** The names of a group without it: `missing` of `row.missing`. */
export type MessagesOf<Group extends string, Name = MessageName> = Name extends `${Group}.${infer Own}` ? Own : never;

/** Messages, read as one text; or a text that only English has, such as that of another program. */
export type Said = string | readonly Message[];

/** Joins the messages of one text. */
const SEPARATOR = '; ';
const TEXTS: Record<Language, ReadonlyMap<string, string>> = {
  en: new Map(Object.entries(MESSAGES_EN)),
  'pt-BR': new Map(Object.entries(MESSAGES_PT_BR)),
};

export function message<Name extends MessageName>(
  name: Name,
  ...[values]: Values<Catalogue[Name], string | number>
): Message {
  return { name, values: values ?? {} };
}

/** The messages of rules, by their English texts. */
const RULES = new Map<string, Message>();

/** Returns the English text of a rule of a field, for a schema: the API answers it, and a page says its message. */
export function rule<Name extends MessageName>(
  name: Name,
  ...[values]: Values<Catalogue[Name], string | number>
): string {
  const said: Message = { name, values: values ?? {} };
  const text = describeSaid([said]);
  RULES.set(text, said);
  return text;
}

/** Returns the message of a text of `rule`; any other text stays. */
export function saidOfRule(text: string): Said {
  const said = RULES.get(text);
  return said ? [said] : text;
}

/** Creates an error that says messages, or a text that only English has. */
export function failure(code: ErrorCode, what: Message | Said, options: { cause?: unknown } = {}): ConfereError {
  if (typeof what === 'string') return new ConfereError(code, what, options);
  const said = 'name' in what ? [what] : what;
  return new ConfereError(code, describeSaid(said), { ...options, said });
}

export function saidBy({ said, message: text }: ConfereError): Said {
  return said ?? text;
}

/** The text of messages, by default in English. One that this version lacks stands as its name. */
export function describeSaid(said: Said, language: Language = 'en'): string {
  if (typeof said === 'string') return said;
  return said.map((one) => describeMessage(one, language)).join(SEPARATOR);
}

function describeMessage({ name, values }: Message, language: Language): string {
  return fill(TEXTS[language].get(name) ?? name.slice(name.indexOf('.') + 1), values);
}

type StoredError = { error: string | null; error_says: string | null };

/** Columns for messages: their English text, for versions before and for the API, and beside it their names and values. */
export function storeError(said: Said | undefined): StoredError {
  if (said === undefined) return { error: null, error_says: null };
  return { error: describeSaid(said), error_says: typeof said === 'string' ? null : JSON.stringify(said) };
}

/** Reads what `storeError` wrote. A version without the second column may have written the first one since: that counts. */
export function readError({ error, error_says: stored }: StoredError): Said | undefined {
  if (error === null) return undefined;
  // `storeError` alone writes the column
  return stored === null ? error : saidOf(error, JSON.parse(stored) as Message[]);
}

/** The messages of a stored text, where it is still theirs: another version may have changed it, or have other messages. */
export function saidOf(text: string, said: readonly Message[] | undefined): Said {
  return said && describeSaid(said) === text ? said : text;
}
