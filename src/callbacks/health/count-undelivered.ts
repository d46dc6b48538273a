import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { TEST_SOURCE } from './callback-sources.ts';

/** Callbacks that are counted at most, shared by the merchants' states: a backlog holds up no page. */
const COUNTED_MAX = 50_000;
const COUNTED_EACH_MIN = 100;
export const UNDELIVERED = ['pending', 'held', 'failed'] as const;

export type Undelivered = (typeof UNDELIVERED)[number];
/** `isMore`: there are more than `n`. */
export type Count = { n: number; isMore: boolean };
/** Counts of undelivered callbacks by merchant id. */
export type CallbackCounts = Map<string, { name: string } & Record<Undelivered, Count>>;

export const NO_CALLBACKS: Count = { n: 0, isMore: false };

/** @param counted rows up to `limit + 1`. */
export function boundCount(counted: number, limit: number): Count {
  return { n: Math.min(counted, limit), isMore: counted > limit };
}

/** Counts the undelivered callbacks of each merchant that has some, up to a limit. */
export async function readCallbackCounts(db: Reader): Promise<CallbackCounts> {
  const merchants = await db
    .selectFrom('merchants')
    .select(['seq', 'id', 'name'])
    .select((eb) =>
      UNDELIVERED.map((state) =>
        eb
          .exists(
            eb
              .selectFrom('callbacks')
              .select('seq')
              .whereRef('merchant_seq', '=', 'merchants.seq')
              .where('state', '=', state),
          )
          .as(state),
      ),
    )
    .where('deleted_at', 'is', null)
    .execute();
  const counts: CallbackCounts = new Map();
  const found = merchants.flatMap((one) =>
    UNDELIVERED.flatMap((state) => (Number(one[state]) === 1 ? [{ ...one, state }] : [])),
  );
  if (found.length === 0) return counts;
  const most = Math.max(COUNTED_EACH_MIN, Math.floor(COUNTED_MAX / found.length));
  const selects = found.map(({ seq, state }, index) => {
    // a failed test is no failed callback
    const isNoTest = state === 'failed' ? sql`AND source != ${TEST_SOURCE}` : sql``;
    return sql`SELECT ${sql.lit(index)} AS place, COUNT(*) AS count FROM (SELECT seq FROM callbacks FORCE INDEX (callbacks_due)
      WHERE merchant_seq = ${seq} AND state = ${state} ${isNoTest} LIMIT ${sql.lit(most + 1)}) AS counted`;
  });
  const { rows } = await sql<{ place: number; count: number }>`${sql.join(selects, sql` UNION ALL `)}`.execute(db);
  for (const { place, count } of rows) {
    const one = found[Number(place)];
    if (!one || Number(count) === 0) continue;
    const empty = { name: one.name, pending: NO_CALLBACKS, held: NO_CALLBACKS, failed: NO_CALLBACKS };
    counts.set(one.id, { ...(counts.get(one.id) ?? empty), [one.state]: boundCount(Number(count), most) });
  }
  return counts;
}
