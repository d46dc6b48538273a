import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { smallest } from '../domain/lists.ts';
import { byLabel, COUNTED_MAX, type Reading, secondsSince } from '../metrics/reading.ts';
import { EXPECTED_STATES } from './decide/decide-state.ts';

/** They need nobody, and are nearly all rows of the table. */
const UNCOUNTED = new Set<string>(['paid', 'refunded', 'cancelled']);
const COUNTED = EXPECTED_STATES.filter((state) => !UNCOUNTED.has(state));

/** Expected payments that are not done, and how far behind the follower is. */
export async function readExpectedMetrics({ db, clock }: Context): Promise<Reading[]> {
  const now = clock.now();
  const counts = COUNTED.map(
    (state) => sql`SELECT ${state} AS state, COUNT(*) AS count
      FROM (SELECT 1 FROM expected_payments WHERE state = ${state} LIMIT ${sql.lit(COUNTED_MAX)}) AS counted`,
  );
  const { rows } = await sql<{ state: string; count: number }>`${sql.join(counts, sql` UNION ALL `)}`.execute(db);
  return [
    {
      name: 'confere_expected_payments',
      help: 'Expected payments by state, without those that are paid, refunded or cancelled.',
      values: byLabel('state', COUNTED, new Map(rows.map((row) => [row.state, Number(row.count)]))),
    },
    {
      name: 'confere_expected_undecided_seconds',
      help: 'Time for which the oldest change has not been decided; 0 without one.',
      values: secondsSince(await findOldestUndecided(db, now), now),
    },
  ];
}

/** Finds since when something is not decided: a change, also one that failed and is deferred, or an expected payment's end. */
export async function findOldestUndecided(db: Reader, now: Date): Promise<Date | null> {
  const work = await db.selectFrom('expected_work').select('created_at').orderBy('seq').limit(1).executeTakeFirst();
  const end = await db
    .selectFrom('expected_payments')
    .select('look_at')
    .where('look_at', '<=', now)
    .orderBy('look_at')
    .limit(1)
    .executeTakeFirst();
  const times = [work?.created_at, end?.look_at].flatMap((at) => at?.getTime() ?? []);
  return times.length === 0 ? null : new Date(smallest(times));
}
