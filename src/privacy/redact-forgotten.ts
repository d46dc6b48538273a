/**
 * Redaction of forgotten people. Only the keyed hash of their document is stored; what the provider shows or sends
 * about them again is redacted before it is written.
 */
import { createHash, createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { Observation, ObservedTransaction } from '../domain/observation.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import { DOCUMENT_LENGTHS } from '../domain/person/match-person.ts';
import { createRedact, createValueMatcher, listCandidates } from '../domain/person/redact-text.ts';
import { isWithheld, withholdExtra } from './withhold-extra.ts';

/** A stored transaction; `forgotten` is the keyed hash of the forgotten person. */
type Known = {
  stored: Omit<ObservedTransaction, 'events' | 'eventsInferred' | 'status'>;
  forgotten: Buffer | undefined;
};
type Named = { document: string | null; pixKey: string | null };

/** Returns the hash of a transaction's person: of its document, else of a PIX key that is a document. */
function hashPerson(keys: Keys, { document, pixKey }: Named): Buffer | undefined {
  const text = normalizeDocument(document) ?? readKey(pixKey);
  return text === null ? undefined : hashDocument(keys, text);
}

/** Returns the hash of another person whom the PIX key names. */
function hashKey(keys: Keys, { document, pixKey }: Named): Buffer | undefined {
  const key = readKey(pixKey);
  const plain = normalizeDocument(document);
  return key === null || plain === null || key === plain ? undefined : hashDocument(keys, key);
}

/** Returns the PIX key if it is a document. */
function readKey(pixKey: string | null): string | null {
  const key = normalizeDocument(pixKey);
  return key !== null && DOCUMENT_LENGTHS.has(key.length) ? key : null;
}

/** Hostile bodies may name 20,000 documents: a statement stays far below `max_allowed_packet`. */
const ASKED_AT_ONCE_MAX = 1_000;
/** A larger text takes up to half a second: yield to other work after it. */
const LARGE_CHARS_MIN = 16_384;

/** Returns which of these hashes belong to forgotten people, as base64. */
async function findForgotten(db: Reader, hashes: Buffer[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < hashes.length; start += ASKED_AT_ONCE_MAX) {
    const rows = await db
      .selectFrom('forgotten_people')
      .select('document_hash')
      .where('document_hash', 'in', hashes.slice(start, start + ASKED_AT_ONCE_MAX))
      .execute();
    for (const row of rows) found.add(row.document_hash.toString('base64'));
  }
  return found;
}

/** Returns which of these documents belong to forgotten people. Hashes them in chunks, to yield to other work. */
async function findForgottenDocuments(keys: Keys, db: Reader, documents: string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < documents.length; start += ASKED_AT_ONCE_MAX) {
    const hashed = documents
      .slice(start, start + ASKED_AT_ONCE_MAX)
      .map((document) => ({ document, hash: hashDocument(keys, document) }));
    const forgotten = await findForgotten(
      db,
      hashed.map(({ hash }) => hash),
    );
    for (const { document, hash } of hashed) if (forgotten.has(hash.toString('base64'))) found.add(document);
  }
  return found;
}

/** Keyed digest of an observation: an unkeyed one could be brute-forced over all documents. */
export function createKeyedDigest(keys: Keys, digest: Buffer): Buffer {
  return createHmac('sha256', keys.search).update('look ').update(digest).digest();
}

/** Keyed hash of a withheld extra. @param hash its SHA-256. */
export function createKeyedExtraHash(keys: Keys, hash: Buffer): Buffer {
  return createHmac('sha256', keys.search).update('extra ').update(hash).digest();
}

export type RedactedBatch = {
  batch: Observation[];
  /** The person of each transaction. */
  people: Map<string, Buffer>;
  /** Withheld extras by transaction: merchants' filters still match them, nothing stores them. */
  extras: Map<string, string>;
};

/**
 * Redacts the personal fields of forgotten people's transactions, in observations and in the stored facts: an
 * observation may arrive while the person is being forgotten. In other people's transactions, a PIX key that is a
 * forgotten document is removed. One statement per batch.
 */
export async function redactObservations(
  keys: Keys,
  trx: Transaction<Database>,
  batch: Observation[],
  loaded: Map<string, Known>,
): Promise<RedactedBatch> {
  const hashes = new Map<string, Buffer[]>();
  const others: Buffer[] = [];
  for (const { transaction } of batch) {
    const stored = loaded.get(transaction.id)?.stored;
    const both = stored ? [transaction, stored] : [transaction];
    const theirs = present(both.map((one) => hashPerson(keys, one)));
    hashes.set(transaction.id, [...(hashes.get(transaction.id) ?? []), ...theirs]);
    others.push(...present(both.map((one) => hashKey(keys, one))));
  }
  const forgotten = await findForgotten(trx, [...[...hashes.values()].flat(), ...others]);
  const people = new Map<string, Buffer>();
  for (const [id, theirs] of hashes) {
    const hash = loaded.get(id)?.forgotten ?? theirs.find((one) => forgotten.has(one.toString('base64')));
    if (hash) people.set(id, hash);
  }
  const extras = new Map<string, string>();
  const redactKey = createRedactKey(keys, forgotten);
  for (const [id, one] of loaded) {
    if (people.has(id)) redactStored(keys, one);
    else one.stored = redactKey(one.stored);
  }
  const redacted = batch.map((observation) => {
    const { id } = observation.transaction;
    const stored = loaded.get(id)?.stored.extra ?? null;
    const known = stored !== null && isWithheld(stored);
    const redact = people.has(id) ? redactAll : redactKey;
    const transaction = redact(known ? withhold(keys, observation.transaction, extras) : observation.transaction);
    // an unkeyed digest could be brute-forced for the redacted values
    return transaction === observation.transaction
      ? observation
      : { ...observation, transaction, digest: createKeyedDigest(keys, observation.digest) };
  });
  return { batch: redacted, people, extras };

  function redactAll(shown: ObservedTransaction): ObservedTransaction {
    const { extra } = shown;
    const holds = extra !== null && !isWithheld(extra) && createPersonMatcher(shown)(extra);
    return { ...(holds ? withhold(keys, shown, extras) : shown), ...EMPTY };
  }
}

const EMPTY = { name: null, email: null, phone: null, document: null, description: null, pixKey: null };

function createRedactKey(keys: Keys, forgotten: Set<string>) {
  return <T extends Named>(of: T): T => {
    // usually nobody is forgotten, and nothing needs to be hashed again
    const hash = forgotten.size > 0 ? hashKey(keys, of) : undefined;
    return hash && forgotten.has(hash.toString('base64')) ? { ...of, pixKey: null } : of;
  };
}

function redactStored(keys: Keys, loaded: Known): void {
  const { stored } = loaded;
  if (stored.extra !== null && !isWithheld(stored.extra) && createPersonMatcher(stored)(stored.extra)) {
    loaded.stored = { ...stored, ...EMPTY, extra: withholdExtra(createKeyedExtraHash(keys, hashExtra(stored.extra))) };
  } else loaded.stored = { ...stored, ...EMPTY };
}

function withhold(keys: Keys, shown: ObservedTransaction, extras: Map<string, string>): ObservedTransaction {
  const { id, extra } = shown;
  if (extra === null) return shown;
  extras.set(id, extra);
  return { ...shown, extra: withholdExtra(createKeyedExtraHash(keys, hashExtra(extra))) };
}

function present<T>(all: (T | null | undefined)[]): T[] {
  return all.filter((one) => one !== null && one !== undefined);
}

function createPersonMatcher(of: Pick<ObservedTransaction, keyof typeof EMPTY>): (text: string) => boolean {
  return createValueMatcher({
    documents: present([normalizeDocument(of.document)]),
    own: present([of.email, of.phone, of.pixKey]),
    shared: present([of.name, of.description]),
  });
}

function hashExtra(extra: string): Buffer {
  return createHash('sha256').update(extra).digest();
}

/** Whether anyone was forgotten: reads one row. */
export async function hasForgottenPeople(db: Reader): Promise<boolean> {
  const anyone = await db.selectFrom('forgotten_people').select('document_hash').limit(1).executeTakeFirst();
  return anyone !== undefined;
}

/** A received text, and known aliases by which it names a forgotten person's transaction. */
export type RawText = { text: string; aliases?: string[] };

/** The redacted text, undefined where it is unchanged; or the error that prevented the redaction. */
export type RedactionResult = { text: string | undefined; error?: unknown };

/**
 * Redacts forgotten people in received texts: their documents, and the ids of their transactions. A text that cannot be
 * processed returns an error of its own and does not affect the others.
 */
export async function redactForgotten(keys: Keys, db: Reader, raws: RawText[]): Promise<RedactionResult[]> {
  const candidates: Tried<ReturnType<typeof listCandidates>>[] = [];
  for (const { text } of raws) {
    candidates.push(tryTo(() => listCandidates(text)));
    if (text.length > LARGE_CHARS_MIN) await setImmediate();
  }
  const named = candidates.flatMap((one) => (one.ok ? [one.value] : []));
  const documents = [...new Set(named.flatMap((one) => one.documents))];
  const forgotten = await findForgottenDocuments(keys, db, documents);
  const ids = await findForgottenIds(db, [...new Set(named.flatMap((one) => one.ids))]);
  return raws.map(({ text, aliases = [] }, index) => {
    const found = candidates[index];
    if (!found?.ok) return { text: undefined, error: found?.error };
    const theirDocuments = found.value.documents.filter((one) => forgotten.has(one));
    const theirIds = [...aliases, ...found.value.ids.filter((id) => ids.has(id))];
    if (theirDocuments.length === 0 && theirIds.length === 0) return { text: undefined };
    const person = { documents: theirDocuments, ids: theirIds, own: [], shared: [] };
    const redacted = tryTo(() => createRedact(person)(text));
    return redacted.ok ? { text: redacted.value } : { text: undefined, error: redacted.error };
  });
}

type Tried<T> = { ok: true; value: T } | { ok: false; error: unknown };

function tryTo<T>(work: () => T): Tried<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Returns which of these ids belong to forgotten people's transactions, in lower case. */
async function findForgottenIds(db: Reader, ids: string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < ids.length; start += ASKED_AT_ONCE_MAX) {
    const some = ids.slice(start, start + ASKED_AT_ONCE_MAX);
    const rows = await db
      .selectFrom('transactions')
      .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
      .select('transactions.id')
      .where('transactions.id', 'in', [...some, ...some.map((id) => id.toUpperCase())])
      .where('parties.forgotten_at', 'is not', null)
      .execute();
    for (const row of rows) found.add(row.id.toLowerCase());
  }
  return found;
}
