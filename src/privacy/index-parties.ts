import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { indexParty } from '../database/keys/index-person.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { describeError } from '../log.ts';

const ROWS_MAX = 500;

/**
 * Fills the search columns of parties that were written before the search existed, 500 rows at a time. A migration
 * cannot, since the key is ours. The remaining rows are read from the index, so a killed run continues where it
 * stopped.
 * @returns how many rows were indexed; it ends early at the signal.
 */
export async function indexParties(context: Context): Promise<number> {
  let done = 0;
  while (!context.signal.aborted) {
    const rows = await transact(context.db, (trx) => indexSome(context, trx));
    done += rows;
    if (rows < ROWS_MAX) break;
  }
  if (done > 0) context.log.info({ rows: done }, 'indexed the parties of transactions for the search');
  return done;
}

/** Indexes parties while the worker runs. Until it is done, a search by document or name may miss old transactions. */
export async function indexPartiesInBackground(context: Context): Promise<void> {
  try {
    await indexParties(context);
  } catch (error) {
    context.log.error({ error: describeError(error) }, 'parties could not be indexed: the next start goes on');
  }
}

async function indexSome(context: Context, trx: Transaction<Database>): Promise<number> {
  const parties = await trx
    .selectFrom('parties')
    .select(['transaction_seq', 'name', 'document'])
    .where('document_hash', 'is', null)
    .where('created_wall', 'is', null)
    .orderBy('transaction_seq')
    .limit(ROWS_MAX)
    .forUpdate()
    .execute();
  if (parties.length === 0) return 0;
  const seqs = parties.map((party) => party.transaction_seq);
  const transactions = await trx
    .selectFrom('transactions')
    .select(['seq', 'created_wall'])
    .where('seq', 'in', seqs)
    .execute();
  const walls = new Map(transactions.map((row) => [row.seq, row.created_wall]));
  await trx
    .insertInto('parties')
    .values(
      parties.map((party) => ({
        transaction_seq: party.transaction_seq,
        ...indexParty(context.keys, party),
        // a party without a transaction is not searchable
        created_wall: walls.get(party.transaction_seq) ?? '',
      })),
    )
    .onDuplicateKeyUpdate({
      document_hash: sql`VALUES(document_hash)`,
      name_folded: sql`VALUES(name_folded)`,
      created_wall: sql`VALUES(created_wall)`,
    })
    .execute();
  return parties.length;
}
