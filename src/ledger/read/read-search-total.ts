import type { Keys } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import type { Operation } from '../../domain/statuses.ts';
import { isSearchTimeout, runWithin, type SearchBudget, startBudget } from './search-budget.ts';
import { buildSearch } from './search-transactions.ts';
import { intersect, type TransactionQuery } from './transaction-query.ts';

/** A page counts and sums up to this many transactions, in 20 ms or less, and says when there are more. */
export const TOTAL_ROWS_MAX = 5_000;
/** A count takes no longer, over all of its statements: a page has 150 ms. */
export const TOTAL_MS_MAX = 100;

export type SearchTotal = {
  /** At most `rowsMax`. */
  count: number;
  /** There are more than `count`: this and the sums are lower bounds. */
  isMore: boolean;
  /** The sums of the amounts, by direction and by what became of them: sums over both would add up unlike things. */
  cents: Record<Operation, Record<Outcome, bigint>>;
};

/** Outcomes of an amount, by the status of now. */
export const OUTCOMES = ['paid', 'refunded', 'unpaid'] as const;
export type Outcome = (typeof OUTCOMES)[number];

type Counted = { operation: Operation; status: string; cents: bigint };
type Row = { seq: number; operation: Operation; status: string; amount_cents: bigint };

/** Adds up the amounts of transactions by direction and outcome. Pure. */
export function sumByOutcome(counted: Iterable<Counted>): SearchTotal['cents'] {
  const none = () => ({ paid: 0n, refunded: 0n, unpaid: 0n });
  const sums = { cashin: none(), cashout: none() };
  for (const { operation, status, cents } of counted)
    sums[operation][status === 'paid' ? 'paid' : status === 'refund' ? 'refunded' : 'unpaid'] += cents;
  return sums;
}

/** Counts and sums what a search matches; undefined if that takes longer than `ms`. */
export async function readSearchTotal(
  db: Reader,
  keys: Keys,
  query: Omit<TransactionQuery, 'limit' | 'after'>,
  { rowsMax = TOTAL_ROWS_MAX, ms = TOTAL_MS_MAX } = {},
): Promise<SearchTotal | undefined> {
  const { anyOf, ...base } = { ...query, limit: rowsMax };
  const found = new Map<number, Row>();
  const budget = startBudget(ms);
  try {
    for (const terms of anyOf ?? [{}]) {
      const both = intersect(base, terms);
      for (const row of both ? await readRows(db, keys, both, budget) : []) found.set(row.seq, row);
    }
  } catch (error) {
    if (isSearchTimeout(error)) return undefined;
    throw error;
  }
  const counted = [...found.values()].slice(0, rowsMax);
  const cents = sumByOutcome(counted.map((row) => ({ ...row, cents: row.amount_cents })));
  return { count: counted.length, isMore: found.size > rowsMax, cents };
}

async function readRows(db: Reader, keys: Keys, query: TransactionQuery, budget: SearchBudget): Promise<Row[]> {
  const read = async (withheld: boolean) => {
    const select = await buildSearch(db, keys, query, { withheld, budget });
    const columns = [
      'transactions.seq',
      'transactions.operation',
      'transactions.status',
      'transactions.amount_cents',
    ] as const;
    // the column holds nothing else
    return (await runWithin(db, select.clearSelect().select(columns), budget)) as Row[];
  };
  const rows = await read(false);
  return rows.length > 0 || query.extra === undefined ? rows : await read(true);
}
