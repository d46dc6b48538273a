import { type SqlBool, sql } from 'kysely';
import type { Context } from '../context.ts';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { hashText } from '../domain/hash-text.ts';
import { splitList } from '../domain/lists.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import type { Person } from '../domain/person/person.ts';
import { createDocumentMatcher, createRedact, createValueMatcher, type Redact } from '../domain/person/redact-text.ts';
import { createKeyedExtraHash } from './redact-forgotten.ts';

const CHUNK_ROWS = 500;
const REFERENCE_CHARS_MIN = 6;
/** Base64 of eleven bytes or more. */
const ENCODED = '[A-Za-z0-9+/_-]{15}';

/**
 * Values of a person's columns, to search for elsewhere, and rows that named the person; stored encrypted until
 * forgotten.
 */
export type PersonValues = {
  /** E-mails, phones and PIX keys that only this person has, and extras that contain a value of theirs. */
  own: string[];
  /** Names and descriptions. */
  shared: string[];
  /**
   * Row numbers of other people's transactions whose extra contained the document; once cleared, nothing else
   * identifies them.
   */
  mentions: number[];
  /** Row numbers of mismatch changes that named the person, stored for the same reason. */
  changes: number[];
  /** Row numbers of versions of expected payments that named the person, likewise. */
  orders: number[];
};

export const NO_PERSON_VALUES: PersonValues = { own: [], shared: [], mentions: [], changes: [], orders: [] };

/**
 * Finds everything about the person with this document: by its keyed hash, by a PIX key or an extra that contains it,
 * and by what an interrupted earlier attempt found.
 */
export async function findPerson(
  context: Context,
  document: string,
  before: PersonValues,
): Promise<{
  person: Omit<Person, 'onSkipped' | 'onLeft' | 'recordMismatchChanges' | 'recordExpected' | 'listReportDays'>;
  values: PersonValues;
}> {
  const { db, keys } = context;
  const plain = normalizeDocument(document) ?? '';
  const hash = hashDocument(keys, plain);
  const naming = await findNaming(context, plain);
  const rows = await readRows(
    db,
    hash,
    naming.filter((row) => row.documentHash === null).map((row) => row.seq),
  );
  const others = naming.filter((row) => row.documentHash !== null && !row.documentHash.equals(hash));
  const mentions = others.filter((row) => row.inExtra);
  const values = await gatherValues(db, hash, rows, before);
  const holds = createValueMatcher({ documents: [plain], ...values });
  for (const { extra } of [...rows, ...mentions]) if (extra !== null && holds(extra)) values.own.push(extra);
  const hashes = [...new Set(values.own)].map(hashText);
  const person = {
    hash,
    transactions: rows.map(({ seq, id }) => ({ seq, id })),
    mentions: mentions.map((row) => row.seq),
    pixKeyOf: others.filter((row) => row.isKey).map((row) => row.seq),
    hashes,
    redact: alsoHashes(keys, hashes, createRedact({ documents: [plain], ids: rows.flatMap(nameOf), ...values })),
    holdsValue: holds,
  };
  return { person, values: { ...values, mentions: [...new Set([...before.mentions, ...person.mentions])] } };
}

/** Returns the texts by which a webhook may name a transaction. A short reference is excluded: it may mean anything. */
function nameOf({ id, reference }: { id: string; reference: string | null }): string[] {
  return reference !== null && reference.length >= REFERENCE_CHARS_MIN ? [id, reference] : [id];
}

type Naming = { seq: number; documentHash: Buffer | null; extra: string | null; inExtra: boolean; isKey: boolean };

/**
 * Returns transactions whose extra contains the document in any spelling, or whose PIX key it is. The server excludes
 * texts that cannot contain it; the rest are decoded and matched here.
 */
async function findNaming({ db, signal }: Context, plain: string): Promise<Naming[]> {
  const holds = createDocumentMatcher(plain);
  const found: Naming[] = [];
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const rows = await selectPeople(db)
      .select('document_hash as documentHash')
      .where('transactions.seq', '>', after)
      .where((eb) => eb.or([mayHold('transactions.extra', plain), mayHold('parties.pix_key', plain)]))
      .orderBy('transactions.seq')
      .limit(CHUNK_ROWS)
      .execute();
    for (const row of rows) {
      const isKey = normalizeDocument(row.pix_key) === plain;
      const inExtra = row.extra !== null && holds(row.extra);
      if (isKey || inExtra) found.push({ ...row, isKey, inExtra });
    }
    if (rows.length < CHUNK_ROWS) return found;
    after = rows.at(-1)?.seq ?? after;
  }
}

/**
 * Matches the characters of the document in order, with anything in between; the collation ignores case and width.
 * Texts that may encode the digits also pass: those with escapes, or as long as base64 of a document.
 */
function mayHold(column: 'transactions.extra' | 'parties.pix_key', plain: string) {
  const text = sql.ref(column);
  return sql<SqlBool>`(CONVERT(${text} USING utf8mb4) COLLATE utf8mb4_unicode_ci LIKE ${`%${[...plain].join('%')}%`}
    OR LOCATE(${'\\u00'}, ${text}) > 0 OR LOCATE(${'%3'}, ${text}) > 0 OR LOCATE(${'%25'}, ${text}) > 0
    OR LOCATE(${'&'}, ${text}) > 0 OR ${text} REGEXP ${ENCODED})`;
}

/** Reads the person's transactions: those of their document, and those without one whose PIX key or extra is it. */
async function readRows(db: Reader, hash: Buffer, nobodys: number[]) {
  const theirs = await db
    .selectFrom('parties')
    .select('transaction_seq as seq')
    .where('document_hash', '=', hash)
    .execute();
  const seqs = [...new Set([...theirs.map((row) => row.seq), ...nobodys])].sort((a, b) => a - b);
  const found = [];
  for (const chunk of splitList(seqs, CHUNK_ROWS)) {
    found.push(await selectPeople(db).where('transactions.seq', 'in', chunk).orderBy('transactions.seq').execute());
  }
  return found.flat();
}

async function gatherValues(
  db: Reader,
  hash: Buffer,
  rows: Awaited<ReturnType<typeof readRows>>,
  before: PersonValues,
) {
  const own = new Set(before.own);
  const shared = new Set(before.shared);
  for (const row of rows) {
    for (const text of [row.email, row.phone, row.pix_key]) if (text !== null) own.add(text);
    for (const text of [row.name, row.description]) if (text !== null) shared.add(text);
  }
  for (const text of await findOthers(db, hash, [...own])) own.delete(text);
  return { ...before, own: [...own], shared: [...shared] };
}

/** Also replaces the plain hash of an extra, which a mismatch's evidence shows, by the keyed one. */
function alsoHashes(keys: Keys, hashes: Buffer[], redact: Redact): Redact {
  const known = hashes.map((hash) => [
    `sha256:${hash.toString('hex')}`,
    `hmac:${createKeyedExtraHash(keys, hash).toString('hex')}`,
  ]);
  return (text, about) => {
    let changed = redact(text, about);
    if (!text.includes('sha256:')) return changed;
    for (const [plain = '', keyed = ''] of known) {
      if ((changed ?? text).includes(plain)) changed = (changed ?? text).replaceAll(plain, keyed);
    }
    return changed;
  };
}

function selectPeople(db: Reader) {
  return db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['transactions.seq', 'transactions.id', 'transactions.extra', 'transactions.reference'])
    .select(['name', 'email', 'phone', 'pix_key', 'description']);
}

/** Returns values that another person also has: a shop's own e-mail does not identify its customers. */
async function findOthers(db: Reader, hash: Buffer, values: string[]): Promise<string[]> {
  if (values.length === 0) return [];
  const rows = await db
    .selectFrom('parties')
    .select(['email', 'phone', 'pix_key'])
    .distinct()
    .where('document_hash', '<>', hash)
    .where((eb) => eb.or([eb('email', 'in', values), eb('phone', 'in', values), eb('pix_key', 'in', values)]))
    .execute();
  return rows.flatMap((row) => [row.email, row.phone, row.pix_key]).filter((text) => text !== null);
}
