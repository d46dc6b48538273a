import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import type { AcceptedSurplus } from './report-plan.ts';

/**
 * The surplus with which a run proved a day, as a person accepted it; undefined if the run needed none.
 * @param until ignores later acceptances, so a rebuilt revision shows the same.
 */
export async function readSurplus(
  db: Reader,
  day: Day,
  runSeq: number,
  until: Date,
): Promise<AcceptedSurplus | undefined> {
  const row = await db
    .selectFrom('run_windows')
    .innerJoin('accepted_surpluses', 'accepted_surpluses.surplus', 'run_windows.surplus')
    .select(['accepted_surpluses.surplus', 'actor', 'created_at'])
    .where('run_windows.run_seq', '=', runSeq)
    .where('run_windows.platform', 'is', null)
    .where('run_windows.from_day', '<=', day)
    .where('run_windows.to_day', '>=', day)
    .where('accepted_surpluses.day', '=', day)
    .where('accepted_surpluses.platform', 'is', null)
    .where('accepted_surpluses.created_at', '<=', until)
    .orderBy('accepted_surpluses.seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { count: row.surplus, actor: row.actor, at: row.created_at };
}
