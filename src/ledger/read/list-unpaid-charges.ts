import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { isSearchTimeout, runWithin, startBudget } from './search-budget.ts';
import { SEARCH_MS_MAX } from './search-transactions.ts';

/** More charges of one amount than these are not compared. */
const CHARGES_READ_MAX = 1_000;

/**
 * Lists transactions of an amount and of these days of creation that the ledger does not know as paid, and last saw otherwise
 * before an instant; oldest first.
 * @returns undefined for more than CHARGES_READ_MAX, or where the search takes longer than SEARCH_MS_MAX.
 */
export async function listUnpaidCharges(
  db: Reader,
  { amountCents, from, to, since }: { amountCents: bigint; from: Day; to: Day; since: Date },
): Promise<{ id: string; day: Day }[] | undefined> {
  const select = db
    .selectFrom('transactions')
    .select(['id', 'created_wall'])
    .where('amount_cents', '=', amountCents)
    .where('created_wall', '>=', `${from} 00:00:00`)
    .where('created_wall', '<', `${addDays(to, 1)} 00:00:00`)
    .where('status', 'not in', ['paid', 'refund'])
    .where('asked_at', '<', since)
    .orderBy('created_wall')
    .limit(CHARGES_READ_MAX + 1);
  try {
    const rows = await runWithin(db, select, startBudget(SEARCH_MS_MAX));
    if (rows.length > CHARGES_READ_MAX) return undefined;
    return rows.map(({ id, created_wall }) => ({ id, day: created_wall.slice(0, 10) }));
  } catch (error) {
    if (isSearchTimeout(error)) return undefined;
    throw error;
  }
}
