/**
 * Redaction of forgotten people. Only the keyed hash of their document is stored; what the provider shows or sends
 * about them again is redacted before it is written.
 */
import { createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { compileOnce } from '../database/compile-once.ts';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { splitList } from '../domain/lists.ts';
import { createRedact, listCandidates } from '../domain/person/redact-text.ts';

/** Hostile bodies may name 20,000 documents: a statement stays far below `max_allowed_packet`. */
const ASKED_AT_ONCE_MAX = 1_000;
/** A larger text takes up to half a second: yield to other work after it. */
const LARGE_CHARS_MIN = 16_384;

const selectForgotten = compileOnce((db, { hashes }: { hashes: Buffer[] }) =>
  db.selectFrom('forgotten_people').select('document_hash').where('document_hash', 'in', hashes),
);
const selectAnyForgotten = compileOnce((db) => db.selectFrom('forgotten_people').select('document_hash').limit(1));

/** Returns which of these hashes belong to forgotten people, as base64. */
export async function findForgotten(db: Reader, hashes: Buffer[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const some of splitList(hashes, ASKED_AT_ONCE_MAX)) {
    const { rows } = await selectForgotten(db, { hashes: some });
    for (const row of rows) found.add(row.document_hash.toString('base64'));
  }
  return found;
}

/** Returns which of these documents belong to forgotten people. Hashes them in chunks, to yield to other work. */
async function findForgottenDocuments(keys: Keys, db: Reader, documents: string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const some of splitList(documents, ASKED_AT_ONCE_MAX)) {
    const hashed = some.map((document) => ({ document, hash: hashDocument(keys, document) }));
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

/** Whether anyone was forgotten: reads one row. */
export async function hasForgottenPeople(db: Reader): Promise<boolean> {
  return (await selectAnyForgotten(db, {})).rows.length > 0;
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
  for (const some of splitList(ids, ASKED_AT_ONCE_MAX)) {
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
