import { hostname } from 'node:os';
import type { Kysely } from 'kysely';
import type { Clock } from '../database/clock.ts';
import type { Database } from '../database/tables.ts';
import { describeError, type Log } from '../log.ts';
import type { Timers } from '../timers.ts';

/** Loops that every worker runs. Each shows life also when it has nothing to do. */
export const WORKER_LOOPS = ['inbox', 'sealer', 'alerts'] as const;
export type Part = (typeof WORKER_LOOPS)[number] | 'watch' | 'DATA_DIR' | 'SPOOL_DIR' | 'ARCHIVE_DIR';

const BEAT_EVERY_MS = 20_000;

type Process = { db: Kysely<Database>; clock: Clock; timers: Timers; log: Log; holder: string };

/** Returns a function that records that a part of this process is alive: at most every 20 s, however often it is called. */
export function createHeartbeat(context: Process, part: Part): () => Promise<void> {
  let beatAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = context.timers.monotonicMs();
    if (nowMs - beatAtMs < BEAT_EVERY_MS) return;
    beatAtMs = nowMs;
    // a loop that works must not fail by this
    await recordHeartbeat(context, part).catch((error: unknown) =>
      context.log.warn({ error: describeError(error), part }, 'a heartbeat could not be written; the next is in 20 s'),
    );
  };
}

/** Records that a part of this process is alive. @param shortBytes the free bytes of a disk that is nearly full. */
export async function recordHeartbeat(
  { db, clock, holder }: Pick<Process, 'db' | 'clock' | 'holder'>,
  part: Part,
  shortBytes: number | null = null,
): Promise<void> {
  const news = { host: hostname(), seen_at: clock.now(), short_bytes: shortBytes };
  await db
    .insertInto('heartbeats')
    .values({ part, holder, ...news })
    .onDuplicateKeyUpdate(news)
    .execute();
}
