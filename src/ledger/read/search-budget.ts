/**
 * The time of a search. A search runs several statements: one for each reading of a text, and one for each term that may be
 * rare. They share one budget: each is limited to what the others have left, so the whole search has one limit.
 */
import type { CompiledQuery } from 'kysely';
import { isStatementTimeout, limitSelect } from '../../database/limit-statement-time.ts';
import type { Reader } from '../../database/reader.ts';

export type SearchBudget = {
  /** The rest, in whole ms; 0 or less: nothing. */
  leftMs(): number;
};

/** Starts a budget. @param now a monotonic clock in ms. */
export function startBudget(ms: number, now: () => number = () => performance.now()): SearchBudget {
  const endMs = now() + ms;
  return { leftMs: () => Math.floor(endMs - now()) };
}

/** A search whose budget ended between two statements. */
class BudgetSpentError extends Error {
  override readonly name = 'BudgetSpentError';
}

/** Runs a SELECT with what is left of a budget. @throws an error of which `isSearchTimeout` is true. */
export async function runWithin<Row>(
  db: Reader,
  select: { compile(): CompiledQuery<Row> },
  budget: SearchBudget,
): Promise<Row[]> {
  const ms = budget.leftMs();
  if (ms < 1) throw new BudgetSpentError('the time of this search is spent');
  const statement = select.compile();
  return (await db.getExecutor().executeQuery<Row>({ ...statement, sql: limitSelect(statement.sql, ms) })).rows;
}

/** Whether a search ended because it takes too long. */
export function isSearchTimeout(error: unknown): boolean {
  return error instanceof BudgetSpentError || isStatementTimeout(error);
}
