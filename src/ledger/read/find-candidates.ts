/** Search terms whose index has another order than a page: a beginning of a name or an id, and a merchant. */
import { type RawBuilder, sql } from 'kysely';
import { indexName } from '../../database/keys/index-person.ts';
import type { Reader } from '../../database/reader.ts';

/** Up to this many transactions of a term are sorted at once; for a more frequent one, the newest are scanned. */
export const CANDIDATES_MAX = 5_000;

/** The transactions of a term. */
export type Candidates = {
  /** Row numbers; undefined for more than CANDIDATES_MAX. */
  seqs: number[] | undefined;
  /** Compares one transaction with the term. */
  condition: RawBuilder<boolean>;
  /** Whether `condition` reads `parties`. */
  ofParty?: true;
};

type Terms = { name?: string | undefined; idPrefix?: string | undefined; merchant?: string | undefined };

/** Reads the transactions of each given term from its index. */
export async function findCandidates(db: Reader, { name, idPrefix, merchant }: Terms): Promise<Candidates[]> {
  return [
    ...(name === undefined ? [] : [await findNamed(db, name)]),
    ...(idPrefix === undefined ? [] : [await findByBeginning(db, idPrefix)]),
    ...(merchant === undefined ? [] : [await findOfMerchant(db, merchant)]),
  ];
}

async function findNamed(db: Reader, name: string): Promise<Candidates> {
  const { from, end } = rangeOf(indexName(name));
  const rows = await db
    .selectFrom('parties')
    .select('transaction_seq as seq')
    .where('name_folded', '>=', from)
    .where('name_folded', '<', end)
    .limit(CANDIDATES_MAX + 1)
    .execute();
  const condition = sql<boolean>`parties.name_folded >= ${from} AND parties.name_folded < ${end}`;
  return { seqs: listFew(rows), condition, ofParty: true };
}

async function findByBeginning(db: Reader, idPrefix: string): Promise<Candidates> {
  const { from, end } = rangeOf(Buffer.from(idPrefix));
  const rows = await db
    .selectFrom('transactions')
    .select('seq')
    .where(sql<boolean>`id >= ${from} AND id < ${end}`)
    .limit(CANDIDATES_MAX + 1)
    .execute();
  return { seqs: listFew(rows), condition: sql<boolean>`transactions.id >= ${from} AND transactions.id < ${end}` };
}

/** The transactions of which a merchant gets callbacks. */
async function findOfMerchant(db: Reader, merchant: string): Promise<Candidates> {
  const found = await db.selectFrom('merchants').select('seq').where('id', '=', merchant).executeTakeFirst();
  const merchantSeq = found?.seq ?? 0;
  const rows = await db
    .selectFrom('callbacks')
    .select('transaction_seq as seq')
    .where('merchant_seq', '=', merchantSeq)
    .where('transaction_seq', 'is not', null)
    .limit(CANDIDATES_MAX + 1)
    .execute();
  // a scalar subquery with a limit: the server cannot turn it into a join that reads all callbacks of the merchant first
  const condition = sql<boolean>`(SELECT 1 FROM callbacks WHERE callbacks.transaction_seq = transactions.seq
    AND callbacks.merchant_seq = ${merchantSeq} LIMIT 1) = 1`;
  return { seqs: listFew(rows.map(({ seq }) => ({ seq: seq ?? 0 }))), condition };
}

/** All byte strings that begin with these bytes: from `from` to before `end`. 0xff is above every byte of UTF-8. */
function rangeOf(from: Buffer): { from: Buffer; end: Buffer } {
  return { from, end: Buffer.concat([from, Buffer.from([0xff])]) };
}

function listFew(rows: { seq: number }[]): number[] | undefined {
  return rows.length > CANDIDATES_MAX ? undefined : [...new Set(rows.map(({ seq }) => seq))];
}
