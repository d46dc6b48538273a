/**
 * Redacts a person from texts of external origin: webhooks' bodies, unreadable rows, notes. Pure.
 *
 * A text is about the person if it contains their document in any spelling, the id of one of their transactions, or another
 * value that only they have. Only then their name is redacted too, so that namesakes are not affected.
 */

import { DEPTH_MAX, isDeeperThan } from '../exact-json.ts';
import { holdsUtf16 } from './decode-text.ts';
import { completeCpf, findWithinNumbers } from './find-documents.ts';
import {
  CPF_BASE,
  CPF_BASE_LENGTH,
  createPersonMatcher,
  findCandidates,
  listDecodedForms,
  type PersonMatcher,
  SUBSTRING_CHARS_MIN,
} from './match-person.ts';
import {
  findSplitDocuments,
  joinDigits,
  listTokens,
  parseJson,
  readToken,
  TOKEN,
  type Token,
} from './tokenize-json.ts';

/** Replaces a value of a forgotten person. */
export const REMOVED = '[removido]';

export type KnownPerson = {
  /** Normalized. */
  documents: string[];
  /** Ids of their transactions. */
  ids: string[];
  /** E-mails, phones and PIX keys that nobody else has. */
  own: string[];
  /** Names and free texts, which others may share. */
  shared: string[];
};

/**
 * @param about whether the text is about one of the person's transactions: then a name alone is a match.
 * @returns the redacted text; undefined if it does not mention the person.
 */
export type Redact = (text: string, about?: boolean) => string | undefined;

/** The last word of a field's name, in the provider's language and in its customers'. */
const PERSONAL_WORDS = new Set(
  'name nome email mail phone telefone celular document documento cpf cnpj description descricao'.split(' '),
);
const PERSONAL_FIELDS = new Set(['pix_key', 'chave_pix', 'chave', 'tax_id']);
/** Each level of JSON inside a JSON string doubles the backslashes: more levels do not fit into a body. */
const NESTED_MAX = 8;

export function createRedact(person: KnownPerson): Redact {
  const matcher = createPersonMatcher(person);
  return (text, about = false) => {
    const value = parseShallow(text);
    if (value === undefined) return redactPlain(text, person, matcher, about);
    const theirs = new Set<string>();
    const tied = gather(value, matcher, { theirs, within: false, nested: 0 });
    const tokens = listTokens(text);
    const split = findSplitDocuments(tokens, matcher);
    const isMentioned =
      about || tied || theirs.size > 0 || split.size > 0 || tokens.some((one) => isMatch(one, matcher));
    return isMentioned ? redactJson(text, { theirs, split }, matcher, 0) : undefined;
  };
}

/** @returns a function that checks a free text of the person's own transaction for any of their values. */
export function createValueMatcher(person: Omit<KnownPerson, 'ids'>): (text: string) => boolean {
  const matcher = createPersonMatcher({ ...person, ids: [] });
  return (text) => matcher.holdsOwnValue(text) || matcher.holdsSharedValue(text);
}

/** @returns a function that checks any text for a document. */
export function createDocumentMatcher(document: string): (text: string) => boolean {
  return createPersonMatcher({ documents: [document], ids: [], own: [], shared: [] }).holdsDocument;
}

function isMatch({ value, isText }: Token, matcher: PersonMatcher): boolean {
  // a number matches no other value: these may be short
  return isText ? matcher.holdsOwnValue(value) || matcher.isId(value) : matcher.holdsDocument(value);
}

/** Replaces single tokens, so that all other bytes stay the same, amounts included. */
function redactJson(text: string, found: Found, matcher: PersonMatcher, nested: number): string | undefined {
  const redacted = text.replace(TOKEN, (token, start: number) => {
    const { value, isText } = readToken(token);
    if (found.theirs.has(value) || found.split.has(start)) return JSON.stringify(REMOVED);
    if (!isText) {
      const holds = [value, token].some((one) => matcher.holdsDocument(one) || matcher.holdsBase(one));
      return holds ? JSON.stringify(REMOVED) : token;
    }
    const inner = expand(value, nested) === value ? undefined : redactInner(value, found, matcher, nested + 1);
    const left = inner ?? value;
    if (matcher.holdsOwnValue(left) || matcher.holdsSharedValue(left)) return JSON.stringify(REMOVED);
    return inner === undefined ? token : JSON.stringify(inner);
  });
  return redacted === text ? undefined : redacted;
}

function redactInner(text: string, { theirs }: Found, matcher: PersonMatcher, nested: number): string | undefined {
  return redactJson(text, { theirs, split: findSplitDocuments(listTokens(text), matcher) }, matcher, nested);
}

/** Redacts a text that is no complete JSON, so it has no fields. If a value can't be removed exactly, the whole text is. */
function redactPlain(
  text: string,
  { own, shared }: KnownPerson,
  matcher: PersonMatcher,
  about: boolean,
): string | undefined {
  const readings = listDecodedForms(text);
  // an id alone, as in the audit, reveals nothing of the person
  if (matcher.isId(text) && !matcher.holdsOwnValue(text)) return undefined;
  const tied = matcher.holdsOwnValue(text) || readings.some(namesId) || (about && matcher.holdsSharedValue(text));
  if (!tied) return undefined;
  // of a person forgotten long ago only the document is left to search for; UTF-16 inside UTF-8 has lost letters
  if (holdsUtf16(text) || /^\s*[{[]/.test(text) || own.length + shared.length === 0) return REMOVED;
  let redacted = text;
  for (const pattern of matcher.patterns) redacted = redacted.replace(pattern, REMOVED);
  for (const value of [...own, ...shared]) {
    if (value.length < SUBSTRING_CHARS_MIN) continue;
    redacted = redacted.replace(new RegExp(value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu'), REMOVED);
  }
  return matcher.holdsOwnValue(redacted) || matcher.holdsSharedValue(redacted) || redacted === text
    ? REMOVED
    : redacted;

  function namesId(one: string): boolean {
    return findCandidates(one).some(({ id }) => id !== undefined && matcher.isId(id));
  }
}

/** Values of the person, and where the tokens start over which their document is split. */
type Found = { theirs: Set<string>; split: Set<number> };

type Gathered = { theirs: Set<string>; within: boolean; nested: number };

/**
 * Collects the values of personal fields of objects about the person: of an object that names their document or
 * transaction, of all objects inside it, and of those around it, up to a list with several elements.
 * @returns whether the value is about the person.
 */
function gather(root: unknown, matcher: PersonMatcher, { theirs, within, nested }: Gathered): boolean {
  const value = expand(root, nested);
  if (typeof value !== 'object' || value === null) return false;
  const deeper = { theirs, nested: value === root ? nested : nested + 1 };
  if (Array.isArray(value)) {
    const tied = value.map((one) => gather(one, matcher, { ...deeper, within }));
    return value.length === 1 && tied[0] === true;
  }
  const fields = Object.entries(value);
  const named = fields.some(
    ([, one]) => isPrimitive(one) && (matcher.isId(String(one)) || matcher.isDocument(String(one))),
  );
  const below = fields.map(([, one]) => gather(one, matcher, { ...deeper, within: within || named })).includes(true);
  if (within || named) addPersonal(fields, theirs);
  else if (below) addAround(value, deeper);
  return named || below;
}

/** Collects personal fields of an object around one about the person, and of its siblings. */
function addAround(root: unknown, { theirs, nested }: Omit<Gathered, 'within'>): void {
  const value = expand(root, nested);
  if (Array.isArray(value) ? value.length !== 1 : typeof value !== 'object' || value === null) return;
  const fields = Object.entries(value as object);
  addPersonal(fields, theirs);
  for (const [, one] of fields) addAround(one, { theirs, nested: value === root ? nested : nested + 1 });
}

function addPersonal(fields: [string, unknown][], theirs: Set<string>): void {
  for (const [name, value] of fields) {
    if (isPersonal(name) && isPrimitive(value) && value !== '') theirs.add(String(value));
  }
}

function isPersonal(field: string): boolean {
  const name = field.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  return (
    PERSONAL_FIELDS.has(name.replace(/^transaction_/, '')) || PERSONAL_WORDS.has(name.split(/[^a-z]+/).at(-1) ?? '')
  );
}

/** Parses JSON inside a string. */
function expand(value: unknown, nested: number): unknown {
  if (typeof value !== 'string' || nested >= NESTED_MAX || !/^\s*[{["]/.test(value)) return value;
  const inner = parseShallow(value);
  return typeof inner === 'string' || (typeof inner === 'object' && inner !== null) ? inner : value;
}

function isPrimitive(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** @returns possible documents in a text, normalized, and possible ids of transactions. */
export function listCandidates(text: string): { documents: string[]; ids: string[] } {
  const tokens = parseShallow(text) === undefined ? [{ value: text, start: 0 }] : listTokens(text);
  const documents = new Set<string>();
  const ids = new Set<string>();
  const add = (one: string, readings: readonly string[]) => {
    for (const { document, id } of findCandidates(one, readings)) {
      if (document !== undefined) documents.add(document);
      if (id !== undefined) ids.add(id);
    }
  };
  for (const { value } of tokens) {
    if (value.length < CPF_BASE_LENGTH) continue;
    const readings = listDecodedForms(value);
    add(value, readings);
    for (const reading of readings) {
      for (const document of findWithinNumbers(reading)) documents.add(document);
      for (const [, ...base] of reading.matchAll(CPF_BASE)) documents.add(completeCpf(base.join('')));
    }
  }
  const { joined } = joinDigits(tokens);
  add(joined, [joined]);
  return { documents: [...documents], ids: [...ids] };
}

/** @returns undefined if the text is no JSON, or is nested too deeply. */
function parseShallow(text: string): unknown {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && isDeeperThan(value, DEPTH_MAX) ? undefined : value;
}
