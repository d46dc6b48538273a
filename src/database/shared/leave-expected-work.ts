import type { Transaction } from 'kysely';
import type { Day } from '../../domain/calendar.ts';
import { insertRows } from '../insert-returning.ts';
import type { Database } from '../tables.ts';

/** Names what changed: a transaction or an expected payment, by its row number, or days that were proven. */
export type ExpectedChange = { transaction_seq: number } | { expected_seq: number } | { from_day: Day; to_day: Day };

/**
 * Leaves work for the follower of expected payments, in the transaction of what changed: one statement, without a lock. The follower
 * decides after the commit, so that no fault of it stops what changed.
 */
export async function leaveExpectedWork(
  trx: Transaction<Database>,
  changes: ExpectedChange[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change) => ({ ...change, created_at: now, due_at: now }));
  await insertRows(trx, 'expected_work', rows);
}
