/**
 * Search terms whose index has another order than a page: a beginning of a name or an id, a merchant, and values beside the
 * one whose index a page is read off. Few transactions of a term are read by number and sorted; of a frequent one the newest
 * transactions are scanned until the page is full.
 */
import { type RawBuilder, sql } from 'kysely';
import { indexName, rangeOf } from '../../database/keys/index-person.ts';
import type { Reader } from '../../database/reader.ts';
import { containsText } from '../../database/shared/contains-text.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { runWithin, type SearchBudget } from './search-budget.ts';
import type { TransactionQuery } from './transaction-query.ts';

/** Up to this many transactions of a term are sorted at once; for a more frequent one, the newest are scanned. */
export const CANDIDATES_MAX = 5_000;

/** The transactions of a term. */
export type Candidates = {
  /** Row numbers; undefined for more than CANDIDATES_MAX. */
  seqs: number[] | undefined;
  /** Compares one transaction with the term; undefined for a value that the search compares anyway. */
  condition?: RawBuilder<boolean>;
  /** Whether `condition` reads `parties`. */
  ofParty?: true;
};

type Terms = Pick<TransactionQuery, 'name' | 'inside' | 'idPrefix' | 'merchant' | 'amountMinCents' | 'amountMaxCents'>;

/** Reads the transactions of each given term from its index, within the time of the search. */
export async function findCandidates(
  db: Reader,
  { name, inside, idPrefix, merchant, ...amounts }: Terms,
  budget: SearchBudget,
): Promise<Candidates[]> {
  return [
    ...(inside === undefined ? [] : [findInside(inside)]),
    ...(name === undefined ? [] : [await findNamed(db, name, budget)]),
    ...(idPrefix === undefined ? [] : [await findByBeginning(db, idPrefix, budget)]),
    ...(merchant === undefined ? [] : [await findOfMerchant(db, merchant, budget)]),
    ...(await findByAmounts(db, amounts, budget)),
  ];
}

/** A value of a column, and the days of creation that are searched. */
export type RareValue = {
  column:
    | 'transactions.extra_hash'
    | 'transactions.amount_cents'
    | 'transactions.status'
    | 'transactions.platform'
    | 'transactions.operation'
    | 'parties.document_hash';
  /** Null: IS NULL. */
  value: string | bigint | Buffer | null;
  from?: Day | undefined;
  to?: Day | undefined;
};

/** Reads the transactions with a value from the index of its column, which ends in the time of creation. */
export async function findWithValue(
  db: Reader,
  { column, value, from, to }: RareValue,
  budget: SearchBudget,
): Promise<Candidates> {
  const [table, seq] = column.startsWith('parties.') ? ['parties', 'transaction_seq'] : ['transactions', 'seq'];
  const conditions = [
    value === null ? sql`${sql.ref(column)} IS NULL` : sql`${sql.ref(column)} = ${value}`,
    ...(from === undefined ? [] : [sql`created_wall >= ${`${from} 00:00:00`}`]),
    ...(to === undefined ? [] : [sql`created_wall < ${`${addDays(to, 1)} 00:00:00`}`]),
  ];
  const select = sql<{ seq: number }>`SELECT ${sql.ref(seq)} AS seq FROM ${sql.table(table)}
    WHERE ${sql.join(conditions, sql` AND `)} LIMIT ${sql.lit(CANDIDATES_MAX + 1)}`;
  return { seqs: listFew(await runWithin(db, { compile: () => select.compile(db) }, budget)) };
}

async function findNamed(db: Reader, name: string, budget: SearchBudget): Promise<Candidates> {
  const { from, end } = rangeOf(indexName(name));
  const select = db
    .selectFrom('parties')
    .select('transaction_seq as seq')
    .where('name_folded', '>=', from)
    .where('name_folded', '<', end)
    .limit(CANDIDATES_MAX + 1);
  const condition = sql<boolean>`parties.name_folded >= ${from} AND parties.name_folded < ${end}`;
  return { seqs: listFew(await runWithin(db, select, budget)), condition, ofParty: true };
}

function findInside(part: string): Candidates {
  const texts = sql`CONCAT_WS(CHAR(10), parties.name, parties.email, transactions.reference, transactions.extra)`;
  return { seqs: undefined, condition: containsText(texts, part), ofParty: true };
}

async function findByBeginning(db: Reader, idPrefix: string, budget: SearchBudget): Promise<Candidates> {
  const { from, end } = rangeOf(Buffer.from(idPrefix));
  const select = db
    .selectFrom('transactions')
    .select('seq')
    .where(sql<boolean>`id >= ${from} AND id < ${end}`)
    .limit(CANDIDATES_MAX + 1);
  const condition = sql<boolean>`transactions.id >= ${from} AND transactions.id < ${end}`;
  return { seqs: listFew(await runWithin(db, select, budget)), condition };
}

/** None without a bound. */
async function findByAmounts(
  db: Reader,
  { amountMinCents: min, amountMaxCents: max }: Terms,
  budget: SearchBudget,
): Promise<Candidates[]> {
  const bounds = [
    ...(min === undefined ? [] : [sql<boolean>`transactions.amount_cents >= ${min}`]),
    ...(max === undefined ? [] : [sql<boolean>`transactions.amount_cents <= ${max}`]),
  ];
  if (bounds.length === 0) return [];
  const condition = sql<boolean>`${sql.join(bounds, sql` AND `)}`;
  const select = db
    .selectFrom('transactions')
    .select('seq')
    .where(condition)
    .limit(CANDIDATES_MAX + 1);
  return [{ seqs: listFew(await runWithin(db, select, budget)), condition }];
}

/** The transactions of which a merchant gets callbacks. */
async function findOfMerchant(db: Reader, merchant: string, budget: SearchBudget): Promise<Candidates> {
  const [found] = await runWithin(db, db.selectFrom('merchants').select('seq').where('id', '=', merchant), budget);
  const merchantSeq = found?.seq ?? 0;
  const select = db
    .selectFrom('callbacks')
    .select('transaction_seq as seq')
    .where('merchant_seq', '=', merchantSeq)
    // not about expected payments
    .where('transaction_seq', '>', 0)
    .limit(CANDIDATES_MAX + 1);
  const rows = await runWithin(db, select, budget);
  // a scalar subquery with a limit: the server cannot turn it into a join that reads all callbacks of the merchant first
  const condition = sql<boolean>`(SELECT 1 FROM callbacks WHERE callbacks.transaction_seq = transactions.seq
    AND callbacks.merchant_seq = ${merchantSeq} LIMIT 1) = 1`;
  return { seqs: listFew(rows.map(({ seq }) => ({ seq: seq ?? 0 }))), condition };
}

function listFew(rows: { seq: number }[]): number[] | undefined {
  return rows.length > CANDIDATES_MAX ? undefined : [...new Set(rows.map(({ seq }) => seq))];
}
