/**
 * Takes a person out of what came from elsewhere: webhooks' bodies, rows that could not be read, notes. Pure.
 *
 * What tells that a text is about the person is their document in any spelling, the id of a transaction of theirs, or
 * another value that is theirs alone. Only then their name goes too: namesakes keep theirs.
 */
import { foldName, normalizeDocument } from './fold-person.ts';
import { DEPTH_MAX, isDeeperThan } from './json-depth.ts';

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

/** @returns the text without the person, undefined where it does not tell of them. */
export type Redact = (text: string) => string | undefined;

const PERSONAL_FIELDS = new Set([
  'name',
  'email',
  'phone',
  'document',
  'pix_key',
  'description',
  'cpf',
  'cnpj',
  'tax_id',
]);
/** A shorter value stands in too much else by chance: it is taken only where it is the whole. */
const CONTAINED_CHARS_MIN = 5;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const DOCUMENT_SHAPE =
  /(?<![0-9A-Za-z])(?:\d{3}\.?\d{3}\.?\d{3}-?\d{2}|[0-9A-Za-z]{2}\.?[0-9A-Za-z]{3}\.?[0-9A-Za-z]{3}\/?[0-9A-Za-z]{4}-?\d{2})(?![0-9A-Za-z])/g;

export function createRedact(person: KnownPerson): Redact {
  const tells = createTells(person);
  return (text) => {
    const value = parseShallow(text);
    return value === undefined ? redactPlain(text, person, tells) : redactJson(text, value, person, tells);
  };
}

/** Whether a free text of the person's own transaction holds any value of theirs. */
export function createHolds(person: Omit<KnownPerson, 'ids'>): (text: string) => boolean {
  const tells = createTells({ ...person, ids: [] });
  return (text) => tells.own(text) || tells.shared(text);
}

/** Whether one value holds one of the person's own, or one of the shared ones. */
function createTells({ documents, ids, own, shared }: KnownPerson) {
  const spelled = documents.map(spellOut);
  const idSet = new Set(ids.map((id) => id.toLowerCase()));
  const holds = (needles: string[]) => {
    const folded = needles.map(foldName).filter((needle) => needle !== '');
    return (text: string): boolean => {
      const plain = foldName(text);
      return folded.some(
        (needle) => plain === needle || (needle.length >= CONTAINED_CHARS_MIN && plain.includes(needle)),
      );
    };
  };
  const holdsOwn = holds(own);
  return {
    documents: new Set(documents),
    isId: (text: string): boolean => idSet.has(text.toLowerCase()),
    own: (text: string): boolean => spelled.some((pattern) => pattern.test(text)) || holdsOwn(text),
    shared: holds(shared),
  };
}
type Tells = ReturnType<typeof createTells>;

/** A document with or without its punctuation, where no longer number holds it. */
function spellOut(document: string): RegExp {
  const characters = [...document].join('[.\\-/ ]?');
  return new RegExp(`(?<![0-9A-Za-z])${characters}(?![0-9A-Za-z])`, 'i');
}

/** Token by token, so that all else stays byte for byte what came: amounts too. */
function redactJson(text: string, root: unknown, person: KnownPerson, tells: Tells): string | undefined {
  const theirs = new Set<string>();
  let told = false;
  for (const { fields, tied } of walkObjects(root, tells)) {
    told ||= tied;
    if (tied) for (const value of listPersonal(fields)) theirs.add(value);
  }
  told ||= listTexts(root).some(tells.own);
  if (!told) return undefined;
  const names = createTells({ ...person, own: [], documents: [], shared: person.shared });
  const redacted = text.replace(TOKEN, (token) => {
    const value = token.startsWith('"') ? (parseJson(token) as string | undefined) : token;
    if (value === undefined) return token;
    const goes = theirs.has(value) || isTheirs(value, token, tells) || (token.startsWith('"') && names.shared(value));
    return goes ? JSON.stringify(REMOVED) : token;
  });
  return redacted === text ? undefined : redacted;
}

function isTheirs(value: string, token: string, tells: Tells): boolean {
  // a number is a document only as a whole
  return token.startsWith('"') ? tells.own(value) : tells.documents.has(normalizeDocument(value) ?? '');
}

/** What is no JSON, or was cut off in its middle, has no fields to go by: what can't be taken out takes all with it. */
function redactPlain(text: string, { own, shared }: KnownPerson, tells: Tells): string | undefined {
  const plain = readEscapes(text);
  // an id alone, as the audit has it, says nothing of the person
  if (tells.isId(plain) && !tells.own(plain)) return undefined;
  const tied = tells.own(plain) || [...plain.matchAll(UUID)].some(([id]) => tells.isId(id));
  if (!tied) return undefined;
  if (/^\s*[{[]/.test(text)) return REMOVED;
  let redacted = text;
  for (const document of tells.documents) redacted = redacted.replace(new RegExp(spellOut(document), 'gi'), REMOVED);
  for (const value of [...own, ...shared]) {
    if (value.length < CONTAINED_CHARS_MIN) continue;
    redacted = redacted.replace(new RegExp(value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu'), REMOVED);
  }
  const left = readEscapes(redacted);
  return tells.own(left) || tells.shared(left) || redacted === text ? REMOVED : redacted;
}

type Found = { fields: Record<string, unknown>; tied: boolean };

/** Every object in it, and whether it is about the person by a value of its own. */
function* walkObjects(root: unknown, tells: Tells): Generator<Found, void, undefined> {
  const queue = [root];
  while (queue.length > 0) {
    const value = queue.pop();
    if (typeof value !== 'object' || value === null) continue;
    // one by one: a list of 100,000 as arguments would exhaust the stack
    for (const one of Object.values(value)) queue.push(one);
    if (Array.isArray(value)) continue;
    const own = Object.values(value).filter(isPrimitive).map(String);
    const tied = own.some((one) => tells.isId(one) || tells.documents.has(normalizeDocument(one) ?? ''));
    yield { fields: value as Record<string, unknown>, tied };
  }
}

/** What personal fields of an object hold, those of objects within it too. */
function listPersonal(fields: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return listPersonal(value as typeof fields);
    const personal = PERSONAL_FIELDS.has(name.toLowerCase().replace(/^transaction_/, ''));
    return personal && isPrimitive(value) && value !== '' ? [String(value)] : [];
  });
}

/** Every text and number of a parsed JSON value. */
function listTexts(root: unknown): string[] {
  const texts: string[] = [];
  const queue = [root];
  while (queue.length > 0) {
    const value = queue.pop();
    if (isPrimitive(value)) texts.push(String(value));
    else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) queue.push(one);
  }
  return texts;
}

function isPrimitive(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** What in a text may be someone's document, normalized; and what may be a transaction's id. */
export function listCandidates(text: string): { documents: string[]; ids: string[] } {
  const value = parseShallow(text);
  const texts = value === undefined ? [readEscapes(text)] : listTexts(value);
  const documents = new Set<string>();
  const ids = new Set<string>();
  for (const one of texts) {
    const whole = one.length <= DOCUMENT_CHARS_MAX ? normalizeDocument(one) : null;
    if (whole !== null) documents.add(whole);
    for (const [token] of one.matchAll(DOCUMENT_SHAPE)) documents.add(normalizeDocument(token) ?? token);
    for (const [id] of one.matchAll(UUID)) ids.add(id.toLowerCase());
  }
  return { documents: [...documents], ids: [...ids] };
}

const DOCUMENT_CHARS_MAX = 32;

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

function readEscapes(text: string): string {
  return text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\/', '/');
}
