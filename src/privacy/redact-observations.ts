import type { Transaction } from 'kysely';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { hashText } from '../domain/hash-text.ts';
import { append } from '../domain/lists.ts';
import type { Observation, ObservedTransaction } from '../domain/observation.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import { DOCUMENT_LENGTHS } from '../domain/person/match-person.ts';
import { createValueMatcher } from '../domain/person/redact-text.ts';
import { createKeyedDigest, createKeyedExtraHash, findForgotten } from './redact-forgotten.ts';
import { isWithheld, withholdExtra } from './withhold-extra.ts';

/** A stored transaction; `forgotten` is the keyed hash of the forgotten person. */
type Known = {
  stored: Omit<ObservedTransaction, 'events' | 'eventsInferred' | 'status'>;
  forgotten: Buffer | undefined;
};
type Named = { document: string | null; pixKey: string | null };
/** Keyed hashes of a transaction's person, and of another whom its PIX key names. */
type Hashes = { person: Buffer | undefined; other: Buffer | undefined };

/** The people whom observations name: by transaction, and which of them are forgotten, as base64. */
export type NamedPeople = { hashes: Map<ObservedTransaction, Hashes>; forgotten: Set<string> };

/** Finds forgotten people among those whom a batch names. To be sent after the statement that locks the rows. */
export async function findNamedPeople(keys: Keys, db: Reader, batch: Observation[]): Promise<NamedPeople> {
  const hashes = new Map(batch.map(({ transaction }) => [transaction, hashNamed(keys, transaction)]));
  return { hashes, forgotten: await findForgotten(db, [...hashes.values()].flatMap(listHashes)) };
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
 * forgotten document is removed. At most one statement, for stored people whom the batch does not name.
 */
export async function redactObservations(
  keys: Keys,
  trx: Transaction<Database>,
  batch: Observation[],
  { loaded, named }: { loaded: Map<string, Known>; named: NamedPeople },
): Promise<RedactedBatch> {
  const hashes = new Map<string, Buffer[]>();
  const unasked: Buffer[] = [];
  for (const { transaction } of batch) {
    const stored = loaded.get(transaction.id)?.stored;
    const others = stored && !isOfSame(stored, transaction) ? hashNamed(keys, stored) : undefined;
    if (others) append(unasked, listHashes(others));
    const theirs = present([named.hashes.get(transaction)?.person, others?.person]);
    hashes.set(transaction.id, [...(hashes.get(transaction.id) ?? []), ...theirs]);
  }
  const forgotten = named.forgotten.union(await findForgotten(trx, unasked));
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
    loaded.stored = { ...stored, ...EMPTY, extra: withholdExtra(createKeyedExtraHash(keys, hashText(stored.extra))) };
  } else loaded.stored = { ...stored, ...EMPTY };
}

function withhold(keys: Keys, shown: ObservedTransaction, extras: Map<string, string>): ObservedTransaction {
  const { id, extra } = shown;
  if (extra === null) return shown;
  extras.set(id, extra);
  return { ...shown, extra: withholdExtra(createKeyedExtraHash(keys, hashText(extra))) };
}

function createPersonMatcher(of: Pick<ObservedTransaction, keyof typeof EMPTY>): (text: string) => boolean {
  return createValueMatcher({
    documents: present([normalizeDocument(of.document)]),
    own: present([of.email, of.phone, of.pixKey]),
    shared: present([of.name, of.description]),
  });
}

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

function hashNamed(keys: Keys, of: Named): Hashes {
  return { person: hashPerson(keys, of), other: hashKey(keys, of) };
}

function listHashes({ person, other }: Hashes): Buffer[] {
  return present([person, other]);
}

function isOfSame(one: Named, other: Named): boolean {
  return one.document === other.document && one.pixKey === other.pixKey;
}

function present<T>(all: (T | null | undefined)[]): T[] {
  return all.filter((one) => one !== null && one !== undefined);
}
