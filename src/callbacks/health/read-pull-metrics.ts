import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { largest } from '../../domain/lists.ts';
import { COUNTED_MAX, type Reading, secondsSince } from '../../metrics/reading.ts';

/** How far merchants that fetch their events are behind: the one that is furthest. */
export async function readPullMetrics({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<Reading[]> {
  const now = clock.now();
  const merchants = await db
    .selectFrom('merchants')
    .select('seq')
    .where('url', 'is', null)
    .where('state', '=', 'enabled')
    .where('deleted_at', 'is', null)
    .execute();
  const behind = [0];
  const ages = [0];
  for (const { seq } of merchants) {
    const open = sql`FROM callbacks WHERE merchant_seq = ${seq} AND state = 'pending'`;
    const { rows } = await sql<{ count: number; oldest: Date | null }>`
      SELECT (SELECT COUNT(*) FROM (SELECT 1 ${open} LIMIT ${sql.lit(COUNTED_MAX)}) AS open) AS count,
        (SELECT created_at ${open} ORDER BY next_attempt_at, seq LIMIT 1) AS oldest`.execute(db);
    behind.push(Number(rows[0]?.count ?? 0));
    ages.push(secondsSince(rows[0]?.oldest, now));
  }
  return [
    {
      name: 'confere_pull_behind_events',
      help: 'Events that merchants without a URL have not acknowledged: of the merchant that is furthest behind.',
      values: largest(behind),
    },
    {
      name: 'confere_pull_behind_seconds',
      help: 'Age of the oldest event that a merchant without a URL has not acknowledged; 0 when there is none.',
      values: largest(ages),
    },
  ];
}
