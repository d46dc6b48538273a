import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { smallest } from '../../domain/lists.ts';
import { byLabel, COUNTED_MAX, type Reading, secondsSince } from '../../metrics/reading.ts';
import { IS_NO_FAILED_TEST } from './callback-sources.ts';
import { readWaitingMerchants } from './read-waiting-merchants.ts';
import { WHEN_IDLE } from './when-idle.ts';

/** Delivered ones are not counted: they are nearly all rows of the table. Nor are those of merchants that fetch their events. */
const COUNTED = {
  pending: sql`next_attempt_at IS NOT NULL`,
  held: sql`TRUE`,
  failed: IS_NO_FAILED_TEST,
};

/** The backlog of callbacks. @param limit a count beyond it stays at it. */
export async function readCallbackMetrics({ db, clock }: Context, limit = COUNTED_MAX): Promise<Reading[]> {
  const now = clock.now();
  const counts = Object.entries(COUNTED).map(
    ([state, condition]) => sql`SELECT ${state} AS state, COUNT(*) AS count
      FROM (SELECT 1 FROM callbacks WHERE state = ${state} AND ${condition} LIMIT ${sql.lit(limit)}) AS counted`,
  );
  const { rows } = await sql<{ state: string; count: number }>`${sql.join(counts, sql` UNION ALL `)}`.execute(db);
  const oldest = await db
    .selectFrom('callbacks')
    .select('created_at')
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<', WHEN_IDLE)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const dueTimes = (await readWaitingMerchants(db)).map(({ oldestDueAt }) => oldestDueAt.getTime());
  const oldestDue = dueTimes.length === 0 ? null : new Date(smallest(dueTimes));
  return [
    {
      name: 'confere_callbacks',
      help: 'Callbacks by state: pending (the backlog), held (their merchant is paused or failing), failed (for good).',
      values: byLabel('state', Object.keys(COUNTED), new Map(rows.map((row) => [row.state, Number(row.count)]))),
    },
    {
      name: 'confere_callbacks_oldest_pending_age_seconds',
      help: 'Time since the oldest pending callback was made, also where it is being repeated or replayed; 0 without one.',
      values: secondsSince(oldest?.created_at, now),
    },
    {
      name: 'confere_callbacks_overdue_seconds',
      help: 'Time for which the attempt that is due longest has been waiting for a worker, without merchants that fail or have a rate; 0 without one.',
      values: secondsSince(oldestDue, now),
    },
  ];
}
