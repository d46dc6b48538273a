import type { Reader } from '../../database/reader.ts';
import type { Adjustment } from './adjust-books.ts';

/** The newest adjustment in force of the same platform, day and amount; undefined without one. */
export async function findEqualAdjustment(
  db: Reader,
  { platform, day, amountCents }: Pick<Adjustment, 'platform' | 'day' | 'amountCents'>,
) {
  return await db
    .selectFrom('adjustments')
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .leftJoin('adjustments as reversal', 'reversal.reverses_seq', 'adjustments.seq')
    .select(['adjustments.id', 'adjustments.note', 'adjustments.actor', 'adjustments.created_at'])
    .where('adjustments.platform', '=', platform)
    .where('adjustments.day', '=', day)
    .where('adjustments.amount_cents', '=', amountCents)
    .where('entries.kind', '!=', 'reversal')
    .where('reversal.seq', 'is', null)
    .orderBy('adjustments.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Row number of the newest adjustment; 0 without one. */
export async function readNewestAdjustment(db: Reader): Promise<number> {
  const row = await db.selectFrom('adjustments').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.seq ?? 0;
}
