/** What people's openings and adjustments move in days that accounting has a spreadsheet of is told as any other change. */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { WallTime } from '../domain/calendar.ts';
import { findClosedDays } from './find-closed-days.ts';
import { raiseMismatches } from './raise-mismatches.ts';

/**
 * Runs `work` as `transact` does, and again too where two are first to tell of a day: they meet in a duplicate key. So it
 * must find by itself what may have been entered once only.
 */
export async function transactWithAlerts<T>(
  context: Context,
  work: (trx: Transaction<Database>, mayBeDone: boolean) => Promise<T>,
): Promise<T> {
  const entered = await transact(context.db, work, { retryDuplicates: true });
  context.wakeUps.alerts.notify();
  return entered;
}

/** Raises `closed_day_changed` for these entries, in the transaction that wrote them. */
export async function flagClosedDays(
  context: Context,
  trx: Transaction<Database>,
  entries: { atWall: WallTime }[],
  now: Date,
): Promise<void> {
  const moments = entries.map(({ atWall }) => ({ atWall, runSeq: undefined }));
  await raiseMismatches(trx, await findClosedDays(context, trx, moments), now);
}
