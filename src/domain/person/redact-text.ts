/**
 * Takes a person out of what came from elsewhere: webhooks' bodies, rows that could not be read, notes. Pure.
 *
 * What tells that a text is about the person is their document in any spelling, the id of a transaction of theirs, or
 * another value that is theirs alone. Only then their name goes too: namesakes keep theirs.
 */

import { DEPTH_MAX, isDeeperThan } from '../json-depth.ts';
import { holdsUtf16 } from './decode-text.ts';
import {
  createPersonMatcher,
  findCandidates,
  listDecodedForms,
  type PersonMatcher,
  SUBSTRING_CHARS_MIN,
} from './match-person.ts';

/** What stands where a value of a forgotten person was. */
export const REMOVED = '[removido]';

export type KnownPerson = {
  /** Normalized. */
  documents: string[];
  /** Ids of their transactions. */
  ids: string[];
  /** E-mails, phones and PIX keys that are nobody else's. */
  own: string[];
  /** Names and free texts, which others may bear too. */
  shared: string[];
};

/**
 * @param about whether the text is known to be about a transaction of theirs: then a name alone tells.
 * @returns the text without the person, undefined where it does not tell of them.
 */
export type Redact = (text: string, about?: boolean) => string | undefined;

/** The last word of a field's name, in the provider's language and in its customers'. */
const PERSONAL_WORDS = new Set(
  'name nome email mail phone telefone celular document documento cpf cnpj description descricao'.split(' '),
);
const PERSONAL_FIELDS = new Set(['pix_key', 'chave_pix', 'chave', 'tax_id']);
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** Each level of JSON within JSON's texts doubles the backslashes: more do not fit into a body. */
const NESTED_MAX = 8;

export function createRedact(person: KnownPerson): Redact {
  const tells = createPersonMatcher(person);
  return (text, about = false) => {
    const value = parseShallow(text);
    if (value === undefined) return redactPlain(text, person, tells, about);
    const theirs = new Set<string>();
    const tied = gather(value, tells, { theirs, within: false, nested: 0 });
    const told = about || tied || theirs.size > 0 || listTokens(text).some((one) => isTelling(one, tells));
    return told ? redactJson(text, theirs, tells, 0) : undefined;
  };
}

/** Whether a free text of the person's own transaction holds any value of theirs. */
export function createValueMatcher(person: Omit<KnownPerson, 'ids'>): (text: string) => boolean {
  const tells = createPersonMatcher({ ...person, ids: [] });
  return (text) => tells.holdsOwnValue(text) || tells.holdsSharedValue(text);
}

type Token = { value: string; isText: boolean };

/** Fields' names too, and what a later field of the same name hides from a parser. */
function listTokens(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), ([token]) => readToken(token));
}

function readToken(token: string): Token {
  if (token.startsWith('"')) return { value: (parseJson(token) as string | undefined) ?? token, isText: true };
  // 1.2e10 and 12000000000.0 are one number
  return { value: String(Number(token)), isText: false };
}

function isTelling({ value, isText }: Token, tells: PersonMatcher): boolean {
  // a number is a document only as a whole
  return isText ? tells.holdsOwnValue(value) || tells.isId(value) : tells.isDocument(value);
}

/** Token by token, so that all else stays byte for byte what came: amounts too. */
function redactJson(text: string, theirs: Set<string>, tells: PersonMatcher, nested: number): string | undefined {
  const redacted = text.replace(TOKEN, (token) => {
    const { value, isText } = readToken(token);
    if (theirs.has(value)) return JSON.stringify(REMOVED);
    if (!isText) return tells.isDocument(value) || tells.isDocument(token) ? JSON.stringify(REMOVED) : token;
    const inner = expand(value, nested) === value ? undefined : redactJson(value, theirs, tells, nested + 1);
    const left = inner ?? value;
    if (tells.holdsOwnValue(left) || tells.holdsSharedValue(left)) return JSON.stringify(REMOVED);
    return inner === undefined ? token : JSON.stringify(inner);
  });
  return redacted === text ? undefined : redacted;
}

/** What is no JSON, or was cut off in its middle, has no fields to go by: what can't be taken out takes all with it. */
function redactPlain(
  text: string,
  { own, shared }: KnownPerson,
  tells: PersonMatcher,
  about: boolean,
): string | undefined {
  const readings = listDecodedForms(text);
  // an id alone, as the audit has it, says nothing of the person
  if (tells.isId(text) && !tells.holdsOwnValue(text)) return undefined;
  const tied = tells.holdsOwnValue(text) || readings.some(namesId) || (about && tells.holdsSharedValue(text));
  if (!tied) return undefined;
  // who was forgotten long ago has no values left to be looked for beside the document; UTF-16 in UTF-8 has lost letters
  if (holdsUtf16(text) || /^\s*[{[]/.test(text) || own.length + shared.length === 0) return REMOVED;
  let redacted = text;
  for (const pattern of tells.patterns) redacted = redacted.replace(pattern, REMOVED);
  for (const value of [...own, ...shared]) {
    if (value.length < SUBSTRING_CHARS_MIN) continue;
    redacted = redacted.replace(new RegExp(value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu'), REMOVED);
  }
  return tells.holdsOwnValue(redacted) || tells.holdsSharedValue(redacted) || redacted === text ? REMOVED : redacted;

  function namesId(one: string): boolean {
    return findCandidates(one).some(({ id }) => id !== undefined && tells.isId(id));
  }
}

type Gathered = { theirs: Set<string>; within: boolean; nested: number };

/**
 * What the personal fields of objects about the person hold: of one that names their document or transaction with all
 * that it holds, and of those around it, up to a list of several.
 * @returns whether it is about the person.
 */
function gather(root: unknown, tells: PersonMatcher, { theirs, within, nested }: Gathered): boolean {
  const value = expand(root, nested);
  if (typeof value !== 'object' || value === null) return false;
  const deeper = { theirs, nested: value === root ? nested : nested + 1 };
  if (Array.isArray(value)) {
    const tied = value.map((one) => gather(one, tells, { ...deeper, within }));
    return value.length === 1 && tied[0] === true;
  }
  const fields = Object.entries(value);
  const named = fields.some(
    ([, one]) => isPrimitive(one) && (tells.isId(String(one)) || tells.isDocument(String(one))),
  );
  const below = fields.map(([, one]) => gather(one, tells, { ...deeper, within: within || named })).includes(true);
  if (within || named) addPersonal(fields, theirs);
  else if (below) addAround(value, deeper);
  return named || below;
}

/** An object around one that is about the person, and those beside that one. */
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

/** JSON within a text. */
function expand(value: unknown, nested: number): unknown {
  if (typeof value !== 'string' || nested >= NESTED_MAX || !/^\s*[{["]/.test(value)) return value;
  const inner = parseShallow(value);
  return typeof inner === 'string' || (typeof inner === 'object' && inner !== null) ? inner : value;
}

function isPrimitive(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** What in a text may be someone's document, normalized; and what may be a transaction's id. */
export function listCandidates(text: string): { documents: string[]; ids: string[] } {
  const texts = parseShallow(text) === undefined ? [text] : listTokens(text).map((one) => one.value);
  const documents = new Set<string>();
  const ids = new Set<string>();
  for (const one of texts) {
    for (const { document, id } of findCandidates(one)) {
      if (document !== undefined) documents.add(document);
      if (id !== undefined) ids.add(id);
    }
  }
  return { documents: [...documents], ids: [...ids] };
}

/** Undefined for what is no JSON, or too deep to be gone through as such. */
function parseShallow(text: string): unknown {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && isDeeperThan(value, DEPTH_MAX) ? undefined : value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
