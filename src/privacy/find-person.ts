import { createHash } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { Context } from '../context.ts';
import { hashDocument } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { normalizeDocument } from '../domain/person/fold-person.ts';
import type { Person } from '../domain/person/person.ts';
import { createRedact, createValueMatcher, type Redact } from '../domain/person/redact-text.ts';
import { createKeyedExtraHash } from './redact-forgotten.ts';

const CHUNK_ROWS = 500;
const REFERENCE_CHARS_MIN = 6;
/** Eleven bytes and more in base64. */
const ENCODED = '[A-Za-z0-9+/_-]{15}';

/** What a person's columns held, to be looked for elsewhere, and what named them; kept, encrypted, until they are forgotten. */
export type PersonValues = {
  /** E-mails, phones and PIX keys that are nobody else's, and extras that hold a value of theirs. */
  own: string[];
  /** Names and descriptions. */
  shared: string[];
  /** Numbers of others' transactions whose extra held the document: once it is taken out, nothing else tells. */
  mentions: number[];
  /** Numbers of changes of mismatches that named them, likewise. */
  changes: number[];
};

export const NO_PERSON_VALUES: PersonValues = { own: [], shared: [], mentions: [], changes: [] };

/**
 * Everything there is of the person with this document: by its keyed hash, by a PIX key or an extra that holds it, and by
 * what an earlier try found before it was stopped.
 */
export async function findPerson(
  context: Context,
  document: string,
  before: PersonValues,
): Promise<{ person: Omit<Person, 'onSkipped' | 'recordMismatchChanges' | 'listReportDays'>; values: PersonValues }> {
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
  const hashes = [...new Set(values.own)].map((text) => createHash('sha256').update(text).digest());
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

/** What a webhook may name a transaction by. A short reference may be anything. */
function nameOf({ id, reference }: { id: string; reference: string | null }): string[] {
  return reference !== null && reference.length >= REFERENCE_CHARS_MIN ? [id, reference] : [id];
}

type Naming = { seq: number; documentHash: Buffer | null; extra: string | null; inExtra: boolean; isKey: boolean };

/**
 * Transactions whose extra holds the document in any spelling, and those whose PIX key it is. The server leaves out what
 * can't hold it; what does is judged as whoever decodes it reads it.
 */
async function findNaming({ db, signal }: Context, plain: string): Promise<Naming[]> {
  const holds = createValueMatcher({ documents: [plain], own: [], shared: [] });
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
 * Its characters in their order, whatever stands between them; of this collation they are the same in any case and width.
 * A text that may encode digits themselves is let through: one with escapes, or as long as base64 of a document.
 */
function mayHold(column: 'transactions.extra' | 'parties.pix_key', plain: string) {
  const text = sql.ref(column);
  return sql<SqlBool>`(CONVERT(${text} USING utf8mb4) COLLATE utf8mb4_unicode_ci LIKE ${`%${[...plain].join('%')}%`}
    OR LOCATE(${'\\u00'}, ${text}) > 0 OR LOCATE(${'%3'}, ${text}) > 0 OR LOCATE(${'%25'}, ${text}) > 0
    OR LOCATE(${'&'}, ${text}) > 0 OR ${text} REGEXP ${ENCODED})`;
}

/** Their transactions: of their document, or of none where the PIX key or the extra is it. */
async function readRows(db: Reader, hash: Buffer, nobodys: number[]) {
  const theirs = await db
    .selectFrom('parties')
    .select('transaction_seq as seq')
    .where('document_hash', '=', hash)
    .execute();
  const seqs = [...new Set([...theirs.map((row) => row.seq), ...nobodys])].sort((a, b) => a - b);
  const rows = [];
  for (let from = 0; from < seqs.length; from += CHUNK_ROWS) {
    const chunk = seqs.slice(from, from + CHUNK_ROWS);
    rows.push(...(await selectPeople(db).where('transactions.seq', 'in', chunk).orderBy('transactions.seq').execute()));
  }
  return rows;
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

/** An extra is shown by its plain hash where it differs; that of a withheld one is keyed. */
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

/** Those of the values that another person bears too: a shop's own e-mail says nothing of who its customers are. */
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
