import type { Keys } from '../../database/keys/settings.ts';
import { isStatementTimeout } from '../../database/limit-statement-time.ts';
import type { Reader } from '../../database/reader.ts';
import { OPERATIONS, type Operation } from '../../domain/statuses.ts';
import { buildSearch, intersect, runLimited, type TransactionQuery } from './search-transactions.ts';

/** A page counts and sums up to this many transactions, in 20 ms or less, and says when there are more. */
export const TOTAL_ROWS_MAX = 5_000;
/** The server ends a longer count. */
export const TOTAL_MS_MAX = 500;

export type SearchTotal = {
  /** At most `rowsMax`. */
  count: number;
  /** There are more than `count`: this and the sums are lower bounds. */
  isMore: boolean;
  /** The sums of the amounts. */
  cents: Record<Operation, bigint>;
};

type Row = { seq: number; operation: Operation; amount_cents: bigint };

/** Counts and sums what a search matches; undefined if one of its statements takes longer than TOTAL_MS_MAX. */
export async function readSearchTotal(
  db: Reader,
  keys: Keys,
  query: Omit<TransactionQuery, 'limit' | 'after'>,
  rowsMax = TOTAL_ROWS_MAX,
): Promise<SearchTotal | undefined> {
  const { anyOf, ...base } = { ...query, limit: rowsMax };
  const found = new Map<number, Row>();
  try {
    for (const terms of anyOf ?? [{}]) {
      const both = intersect(base, terms);
      for (const row of both ? await readRows(db, keys, both) : []) found.set(row.seq, row);
    }
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
  const counted = [...found.values()].slice(0, rowsMax);
  const sum = (operation: Operation): bigint =>
    counted.reduce((total, row) => (row.operation === operation ? total + row.amount_cents : total), 0n);
  const cents = Object.fromEntries(OPERATIONS.map((one) => [one, sum(one)])) as SearchTotal['cents'];
  return { count: counted.length, isMore: found.size > rowsMax, cents };
}

async function readRows(db: Reader, keys: Keys, query: TransactionQuery): Promise<Row[]> {
  const read = async (withheld: boolean) => {
    const select = await buildSearch(db, keys, query, { withheld, ms: TOTAL_MS_MAX });
    const columns = ['transactions.seq', 'transactions.operation', 'transactions.amount_cents'] as const;
    return await runLimited<Row>(db, select.clearSelect().select(columns), TOTAL_MS_MAX);
  };
  const rows = await read(false);
  return rows.length > 0 || query.extra === undefined ? rows : await read(true);
}
