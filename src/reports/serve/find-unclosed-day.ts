import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';

/** The first day from `from` to before `to` whose newest report is not closed. */
export async function findUnclosedDay(db: Reader, { from, to }: { from: Day; to: Day }): Promise<Day | undefined> {
  const row = await db
    .selectFrom('reports')
    .select('day')
    .where('day', '>=', from)
    .where('day', '<', to)
    .where('state', '!=', 'closed')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('reports as newer')
            .select('newer.seq')
            .whereRef('newer.day', '=', 'reports.day')
            .whereRef('newer.revision', '>', 'reports.revision'),
        ),
      ),
    )
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  return row?.day;
}
