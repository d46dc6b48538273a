import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { type FreeTextColumns, redactRows } from '../database/redact-rows.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { splitList } from '../domain/lists.ts';
import type { Erase, Person } from '../domain/person/person.ts';
import { createKeyedDigest, createKeyedExtraHash } from './redact-forgotten.ts';

const CHUNK_ROWS = 200;

/** `changes` returns the rows of `mismatch_changes` that show the text of these rows in reports. */
type LedgerText = FreeTextColumns & { changes?: (db: Reader, seqs: number[]) => Promise<number[]> };

/** Texts that the ledger stores as received, or as people wrote them. */
const FREE_TEXTS: LedgerText[] = [
  { table: 'refused_rows', key: 'seq', columns: ['raw'] },
  { table: 'mismatches', key: 'seq', columns: ['expected', 'actual'], changes: listWithoutEvidence },
  { table: 'mismatches', key: 'seq', columns: ['note'], transactionIdSql: 'transaction_id' },
  { table: 'mismatch_changes', key: 'seq', columns: ['expected', 'actual'], changes: async (_, seqs) => seqs },
  {
    table: 'mismatch_changes',
    key: 'seq',
    columns: ['note'],
    transactionIdSql: '(SELECT transaction_id FROM mismatches WHERE mismatches.seq = mismatch_changes.mismatch_seq)',
    changes: async (_, seqs) => seqs,
  },
  { table: 'fact_changes', key: 'seq', columns: ['before_value'] },
  { table: 'adjustments', key: 'seq', columns: ['note'] },
  { table: 'corrections', key: 'seq', columns: ['before_facts', 'after_facts'] },
  // other people's transactions may mention the person
  { table: 'parties', key: 'transaction_seq', columns: ['description'] },
];

export function eraseLedgerTexts(context: Context): Erase {
  return async ({ redact, onSkipped, transactions, recordMismatchChanges }, { write }) => {
    const theirs = new Set(transactions.map((one) => one.id));
    let changed = 0;
    for (const { changes, ...place } of FREE_TEXTS) {
      changed += await redactRows(context.db, place, redact, {
        write,
        now: context.clock.now(),
        signal: context.signal,
        onSkipped,
        personTransactionIds: theirs,
        beforeWrite: async (seqs) => {
          if (changes) await recordMismatchChanges(await changes(context.db, seqs));
        },
      });
    }
    return changed;
  };
}

/**
 * Returns changes from versions that stored no evidence with them: reports show the mismatch's own evidence for
 * these.
 */
async function listWithoutEvidence(db: Reader, mismatchSeqs: number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('mismatch_changes')
    .select('seq')
    .where('mismatch_seq', 'in', mismatchSeqs)
    .where('opened_at', 'is', null)
    .execute();
  return rows.map((row) => row.seq);
}

/**
 * Clears the personal columns of a person's transactions. The keyed hash of the document stays, and so do amounts,
 * events, entries and the chain. An extra that contains a value of the person is replaced by its keyed hash, so it can
 * be compared. In other people's transactions, an extra or a PIX key that contains the document is cleared.
 */
export function eraseParties(context: Context): Erase {
  return async (person, { write }) => {
    const mentions = [...new Set([...person.mentions, ...person.pixKeyOf])];
    const theirs = person.transactions.map((one) => one.seq);
    if (!write) return mentions.length + (await eraseChunks(context, theirs, (seqs) => countNamed(context.db, seqs)));
    const inTransaction = (erase: typeof eraseSome) => (seqs: number[]) =>
      transact(context.db, (trx) => erase(context, trx, person, seqs));
    const mentioned = await eraseChunks(context, mentions, inTransaction(eraseMentions));
    return mentioned + (await eraseChunks(context, theirs, inTransaction(eraseSome)));
  };
}

async function eraseChunks(
  { signal }: Context,
  all: number[],
  work: (seqs: number[]) => Promise<number>,
): Promise<number> {
  let changed = 0;
  for (const some of splitList(all, CHUNK_ROWS)) {
    signal.throwIfAborted();
    changed += await work(some);
  }
  return changed;
}

async function countNamed(db: Context['db'], seqs: number[]): Promise<number> {
  return (await readNamed(db, seqs)).length;
}

async function eraseSome(
  context: Context,
  trx: Transaction<Database>,
  person: Person,
  seqs: number[],
): Promise<number> {
  // locked as appliers lock them: an applier waits for us, or we see its commit
  const rows = await trx
    .selectFrom('transactions')
    .select(['seq', 'extra', 'extra_hash', 'digest'])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .forUpdate()
    .execute();
  const named = new Set((await readNamed(trx, seqs)).map((row) => row.seq));
  const again: number[] = [];
  for (const { seq, extra, extra_hash, digest } of rows) {
    const withheld = extra !== null && extra_hash && person.holdsValue(extra);
    if (!named.has(seq)) {
      if (!withheld) continue;
      // an earlier version did not find the value
      again.push(seq);
    }
    await trx
      .updateTable('transactions')
      .set({
        ...(named.has(seq) ? { digest: createKeyedDigest(context.keys, digest) } : {}),
        ...(withheld ? { extra: null, extra_hash: createKeyedExtraHash(context.keys, extra_hash) } : {}),
      })
      .where('seq', '=', seq)
      .execute();
  }
  const changed = [...named, ...again];
  if (named.size > 0) {
    await trx
      .updateTable('parties')
      .set({
        name: null,
        email: null,
        phone: null,
        document: null,
        pix_key: null,
        description: null,
        name_folded: null,
      })
      .set({ document_hash: person.hash, forgotten_at: context.clock.now() })
      .where('transaction_seq', 'in', [...named])
      .execute();
  }
  await eraseWords(trx, changed);
  return changed.length;
}

/** Clears the document in other people's transactions; their digests included it, so they are keyed too. */
async function eraseMentions(
  context: Context,
  trx: Transaction<Database>,
  person: Person,
  seqs: number[],
): Promise<number> {
  const rows = await trx
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['seq', 'extra', 'extra_hash', 'digest', 'pix_key'])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .forUpdate()
    .execute();
  const [inExtra, isKey] = [new Set(person.mentions), new Set(person.pixKeyOf)];
  const changed: number[] = [];
  for (const { seq, extra, extra_hash, digest, pix_key } of rows) {
    const withheld = inExtra.has(seq) && extra !== null;
    const keyed = isKey.has(seq) && pix_key !== null;
    if (!withheld && !keyed) continue;
    changed.push(seq);
    await trx
      .updateTable('transactions')
      .set({
        digest: createKeyedDigest(context.keys, digest),
        ...(withheld ? { extra: null, extra_hash: extra_hash && createKeyedExtraHash(context.keys, extra_hash) } : {}),
      })
      .where('seq', '=', seq)
      .execute();
    if (keyed) await trx.updateTable('parties').set({ pix_key: null }).where('transaction_seq', '=', seq).execute();
  }
  await eraseWords(trx, changed);
  return changed.length;
}

/** Deletes the words of transactions; the worker indexes those that are left. Locks the parties first, as it does. */
async function eraseWords(trx: Transaction<Database>, seqs: number[]): Promise<void> {
  if (seqs.length === 0) return;
  await trx.updateTable('parties').set({ index_due: 1 }).where('transaction_seq', 'in', seqs).execute();
  await trx.deleteFrom('search_words').where('transaction_seq', 'in', seqs).execute();
}

/** Returns the transactions whose party is not forgotten yet. */
async function readNamed(db: Context['db'], seqs: number[]): Promise<{ seq: number }[]> {
  return await db
    .selectFrom('parties')
    .select('transaction_seq as seq')
    .where('transaction_seq', 'in', seqs)
    .where('forgotten_at', 'is', null)
    .execute();
}
