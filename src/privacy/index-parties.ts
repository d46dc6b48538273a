import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { insertRows } from '../database/insert-returning.ts';
import { indexParty, indexWord } from '../database/keys/index-person.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { splitWords } from '../domain/person/split-words.ts';
import { createWakeSignal, runWorkerLoop } from '../runtime/wake-signal.ts';

const ROWS_MAX = 200;
/** How long a new transaction may wait until its words are found. */
const POLL_MS = 5_000;
/** Words of a transaction that are indexed, the first of them: of a name of 1,024 bytes and what stands after it. */
export const WORDS_MAX = 64;

/** Indexes until the signal what writers left due. Any number of processes may run it. */
export async function followParties(context: Context): Promise<void> {
  let rows = 0;
  await runWorkerLoop({
    name: 'parties',
    hasWork: () => context.poll(() => [selectDue(context)]),
    work: async () => {
      const indexed = await indexSome(context);
      rows += indexed;
      if (indexed > 0) return true;
      if (rows > ROWS_MAX) context.log.info({ rows }, 'indexed the parties of transactions for the search');
      rows = 0;
      return false;
    },
    wakeUp: createWakeSignal(context.timers),
    idleMs: POLL_MS,
    context,
  });
}

/** Indexes all that is due, as the worker does. @returns how many rows; it ends early at the signal. */
export async function indexParties(context: Context): Promise<number> {
  let done = 0;
  for (let rows = -1; rows !== 0 && !context.signal.aborted; done += rows) rows = await indexSome(context);
  return done;
}

const selectDue = ({ db }: Context) =>
  db.selectFrom('parties').select('transaction_seq').where('index_due', '=', 1).orderBy('transaction_seq');

async function indexSome(context: Context): Promise<number> {
  const due = await selectDue(context).limit(ROWS_MAX).execute();
  if (due.length === 0) return 0;
  const seqs = due.map((row) => row.transaction_seq);
  await transact(context.db, (trx) => indexRows(context.keys, trx, seqs));
  return due.length;
}

/** Fills the search columns and the words of transactions. A key is ours, so no migration can. */
async function indexRows(keys: Keys, trx: Transaction<Database>, seqs: number[]): Promise<void> {
  // a writer locks the party too: these texts stay until the commit, or its change leaves them due again
  const parties = await trx
    .selectFrom('parties')
    .select(['transaction_seq', 'name', 'email', 'pix_key', 'document'])
    .where('transaction_seq', 'in', seqs)
    .where('index_due', '=', 1)
    .orderBy('transaction_seq')
    .forUpdate()
    .execute();
  if (parties.length === 0) return;
  const locked = parties.map((party) => party.transaction_seq);
  const transactions = await trx
    .selectFrom('transactions')
    .select(['seq', 'created_wall', 'reference', 'extra'])
    .where('seq', 'in', locked)
    .execute();
  const transactionOf = new Map(transactions.map((row) => [row.seq, row]));
  const words = parties.flatMap(({ transaction_seq, name, email, pix_key: key }) => {
    const transaction = transactionOf.get(transaction_seq);
    if (!transaction) return [];
    const { created_wall, reference, extra } = transaction;
    const texts = [name, email, key?.includes('@') ? key : null, reference, extra];
    return splitWords(texts, WORDS_MAX).map((word) => ({ transaction_seq, word: indexWord(keys, word), created_wall }));
  });
  await replaceWords(trx, locked, words);
  await trx
    .insertInto('parties')
    .values(
      parties.map((party) => ({
        transaction_seq: party.transaction_seq,
        ...indexParty(keys, party),
        // a party without a transaction is not searchable
        created_wall: transactionOf.get(party.transaction_seq)?.created_wall ?? '',
        index_due: null,
      })),
    )
    .onDuplicateKeyUpdate({
      // a forgotten person's stays
      document_hash: sql`COALESCE(VALUES(document_hash), document_hash)`,
      name_folded: sql`VALUES(name_folded)`,
      created_wall: sql`VALUES(created_wall)`,
      index_due: null,
    })
    .execute();
}

type Word = { transaction_seq: number; word: Buffer; created_wall: string };

async function replaceWords(trx: Transaction<Database>, seqs: number[], words: Word[]): Promise<void> {
  // VARBINARY would be read as text
  const stored = await trx
    .selectFrom('search_words')
    .select(['transaction_seq', sql<string>`LOWER(HEX(word))`.as('hex')])
    .where('transaction_seq', 'in', seqs)
    .execute();
  const wanted = new Map(words.map((one) => [`${one.transaction_seq} ${one.word.toString('hex')}`, one]));
  const known = new Set(stored.map(({ transaction_seq: seq, hex }) => `${seq} ${hex}`));
  for (const { transaction_seq: seq, hex } of stored) {
    if (wanted.has(`${seq} ${hex}`)) continue;
    const gone = trx.deleteFrom('search_words').where('transaction_seq', '=', seq);
    await gone.where('word', '=', Buffer.from(hex, 'hex')).execute();
  }
  const added = [...wanted].flatMap(([key, one]) => (known.has(key) ? [] : [one]));
  if (added.length > 0) await insertRows(trx, 'search_words', added);
}
