import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';

/** The first day with a sealed posting; undefined while there is none. */
export async function findFirstDay(db: Reader): Promise<Day | undefined> {
  const row = await db
    .selectFrom('balance_spans')
    .select('span')
    .where('grain', '=', 'day')
    .orderBy('span')
    .limit(1)
    .executeTakeFirst();
  return row?.span;
}
