/**
 * People who were forgotten: the keyed hash of their document is all that is left, and what the provider shows again of
 * their transactions, or sends, is taken out before it is written.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Transaction } from 'kysely';
import { hashDocument } from '../database/index-person.ts';
import type { Reader } from '../database/reader.ts';
import type { Keys } from '../database/settings.ts';
import type { Database } from '../database/tables.ts';
import { normalizeDocument } from '../domain/fold-person.ts';
import type { Observation, ObservedTransaction } from '../domain/observation.ts';
import { createHolds, createRedact, listCandidates } from '../domain/redact-text.ts';
import { isWithheld, withholdExtra } from './decide.ts';
import type { Loaded } from './load-held.ts';

type Named = { document: string | null; pixKey: string | null };

/** Whose a transaction is: its document's, else that of a PIX key that is one. CPF has 11 characters, CNPJ 14. */
export function hashPerson(keys: Keys, { document, pixKey }: Named): Buffer | undefined {
  const key = normalizeDocument(pixKey);
  const text = normalizeDocument(document) ?? (key?.length === 11 || key?.length === 14 ? key : null);
  return text === null ? undefined : hashDocument(keys, text);
}

/** Which of these were forgotten, as base64. */
async function findForgotten(db: Reader, hashes: Buffer[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await db
    .selectFrom('forgotten_people')
    .select('document_hash')
    .where('document_hash', 'in', hashes)
    .execute();
  return new Set(rows.map((row) => row.document_hash.toString('base64')));
}

/** In place of a look's digest, which whoever has all but the document could try documents against. */
export function sealDigest(keys: Keys, digest: Buffer): Buffer {
  return createHmac('sha256', keys.search).update('look ').update(digest).digest();
}

/** In place of an extra's plain hash, where the extra is withheld. @param hash its SHA-256. */
export function sealExtra(keys: Keys, hash: Buffer): Buffer {
  return createHmac('sha256', keys.search).update('extra ').update(hash).digest();
}

export type Hidden = {
  batch: Observation[];
  /** By transaction, whose it is. */
  people: Map<string, Buffer>;
  /** By transaction, an extra that is withheld: merchants' filters still match it, nothing keeps it. */
  extras: Map<string, string>;
};

/**
 * Takes the personal fields out of looks at transactions of forgotten people, and out of what is held of them: a look
 * may come while they are being forgotten. One question a batch.
 */
export async function hideForgotten(
  keys: Keys,
  trx: Transaction<Database>,
  batch: Observation[],
  loaded: Map<string, Loaded>,
): Promise<Hidden> {
  const hashes = new Map<string, Buffer[]>();
  for (const { transaction } of batch) {
    const held = loaded.get(transaction.id)?.held;
    const theirs = [hashPerson(keys, transaction), held && hashPerson(keys, held)].filter((hash) => hash !== undefined);
    hashes.set(transaction.id, [...(hashes.get(transaction.id) ?? []), ...theirs]);
  }
  const forgotten = await findForgotten(trx, [...hashes.values()].flat());
  const people = new Map<string, Buffer>();
  for (const [id, theirs] of hashes) {
    const hash = loaded.get(id)?.forgotten ?? theirs.find((one) => forgotten.has(one.toString('base64')));
    if (hash) people.set(id, hash);
  }
  const extras = new Map<string, string>();
  for (const [id, one] of loaded) if (people.has(id)) hideHeld(keys, one);
  const hidden = batch.map((look) => {
    const { id } = look.transaction;
    const held = loaded.get(id)?.held.extra ?? null;
    const known = held !== null && isWithheld(held);
    if (!people.has(id)) return known ? withhold(keys, look, extras) : look;
    return hideLook(keys, look, known, extras);
  });
  return { batch: hidden, people, extras };
}

const EMPTY = { name: null, email: null, phone: null, document: null, description: null, pixKey: null };

function hideHeld(keys: Keys, loaded: Loaded): void {
  const { held } = loaded;
  if (held.extra !== null && !isWithheld(held.extra) && tells(held)(held.extra)) {
    loaded.held = { ...held, ...EMPTY, extra: withholdExtra(sealExtra(keys, hashExtra(held.extra))) };
  } else loaded.held = { ...held, ...EMPTY };
}

function hideLook(keys: Keys, look: Observation, known: boolean, extras: Map<string, string>): Observation {
  const { transaction, digest } = look;
  const withheld = known || (transaction.extra !== null && tells(transaction)(transaction.extra));
  const shown = withheld ? withhold(keys, look, extras) : look;
  return { ...shown, digest: sealDigest(keys, digest), transaction: { ...shown.transaction, ...EMPTY } };
}

function withhold(keys: Keys, look: Observation, extras: Map<string, string>): Observation {
  const { id, extra } = look.transaction;
  if (extra === null) return look;
  extras.set(id, extra);
  return { ...look, transaction: { ...look.transaction, extra: withholdExtra(sealExtra(keys, hashExtra(extra))) } };
}

function tells(of: Pick<ObservedTransaction, keyof typeof EMPTY>): (text: string) => boolean {
  const present = (texts: (string | null)[]) => texts.filter((text) => text !== null);
  return createHolds({
    documents: present([normalizeDocument(of.document)]),
    own: present([of.email, of.phone, of.pixKey]),
    shared: present([of.name, of.description]),
  });
}

function hashExtra(extra: string): Buffer {
  return createHash('sha256').update(extra).digest();
}

/** Whether there is anyone at all to be taken out: one row is all that is read. */
export async function wasAnyoneForgotten(db: Reader): Promise<boolean> {
  const anyone = await db.selectFrom('forgotten_people').select('document_hash').limit(1).executeTakeFirst();
  return anyone !== undefined;
}

/** What came, and by what else than its id it names a forgotten person's transaction, where that is known. */
export type Raw = { text: string; ties?: string[] };

/**
 * Raw texts that have come, without what they tell of forgotten people: by their documents, and by the ids of their
 * transactions.
 * @returns for each the redacted text, undefined where it stays.
 */
export async function redactForgotten(keys: Keys, db: Reader, raws: Raw[]): Promise<(string | undefined)[]> {
  const candidates = raws.map(({ text }) => listCandidates(text));
  const hashOf = new Map<string, Buffer>();
  for (const { documents } of candidates) for (const one of documents) hashOf.set(one, hashDocument(keys, one));
  const forgotten = await findForgotten(db, [...hashOf.values()]);
  const ids = await findForgottenIds(db, [...new Set(candidates.flatMap((one) => one.ids))]);
  return raws.map(({ text, ties = [] }, index) => {
    const named = candidates[index] ?? { documents: [], ids: [] };
    const documents = named.documents.filter((one) => forgotten.has(hashOf.get(one)?.toString('base64') ?? ''));
    const theirs = [...ties, ...named.ids.filter((id) => ids.has(id))];
    if (documents.length === 0 && theirs.length === 0) return undefined;
    return createRedact({ documents, ids: theirs, own: [], shared: [] })(text);
  });
}

/** In lower case. */
async function findForgottenIds(db: Reader, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select('transactions.id')
    .where('transactions.id', 'in', [...ids, ...ids.map((id) => id.toUpperCase())])
    .where('parties.forgotten_at', 'is not', null)
    .execute();
  return new Set(rows.map((row) => row.id.toLowerCase()));
}
