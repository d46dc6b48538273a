/** Mismatches for days with a report that a person's opening or adjustment changes. */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { WallTime } from '../domain/calendar.ts';
import { findClosedDays } from './find-closed-days.ts';
import { raiseMismatches } from './raise-mismatches.ts';

/**
 * Runs `work` as `transact` does and wakes the alert sender. It also retries when two transactions are the first to
 * flag a day and collide on a duplicate key, so `work` must detect by itself what an earlier attempt has written.
 */
export async function transactWithAlerts<T>(
  context: Context,
  work: (trx: Transaction<Database>, mayBeDone: boolean) => Promise<T>,
): Promise<T> {
  const entered = await transact(context.db, work, { retryDuplicates: true });
  context.wakeUps.alerts.notify();
  return entered;
}

/** Raises `closed_day_changed` for these entries, in the transaction that writes them. */
export async function flagClosedDays(
  context: Context,
  trx: Transaction<Database>,
  entries: { atWall: WallTime }[],
  now: Date,
): Promise<void> {
  const moments = entries.map(({ atWall }) => ({ atWall, runSeq: undefined }));
  await raiseMismatches(trx, await findClosedDays(context, trx, moments), now);
}
