import type { Reader } from '../../database/reader.ts';
import type { Adjustment } from './adjust-books.ts';

/** For each of these, the newest adjustment in force of the same platform, day and amount; undefined without one. */
export async function findEqualAdjustments(
  db: Reader,
  given: readonly Pick<Adjustment, 'platform' | 'day' | 'amountCents'>[],
) {
  if (given.length === 0) return [];
  // one statement: the table has no index of days, and a file has up to 2,000 rows
  const rows = await db
    .selectFrom('adjustments')
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .leftJoin('adjustments as reversal', 'reversal.reverses_seq', 'adjustments.seq')
    .select(['adjustments.id', 'adjustments.note', 'adjustments.actor', 'adjustments.created_at'])
    .select(['adjustments.platform', 'adjustments.day', 'adjustments.amount_cents'])
    .where('adjustments.day', 'in', [...new Set(given.map(({ day }) => day))])
    .where('adjustments.amount_cents', 'in', [...new Set(given.map(({ amountCents }) => amountCents))])
    .where('entries.kind', '!=', 'reversal')
    .where('reversal.seq', 'is', null)
    .orderBy('adjustments.seq')
    .execute();
  const newest = new Map(rows.map((row) => [`${row.platform} ${row.day} ${row.amount_cents}`, row]));
  return given.map(({ platform, day, amountCents }) => newest.get(`${platform} ${day} ${amountCents}`));
}

/** Row number of the newest adjustment; 0 without one. */
export async function readNewestAdjustment(db: Reader): Promise<number> {
  const row = await db.selectFrom('adjustments').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}
