import { hostname } from 'node:os';
import type { Kysely } from 'kysely';
import { type Clock, measureAheadMs } from '../database/clock.ts';
import type { Database } from '../database/tables.ts';
import { VERSION } from '../domain/version.ts';
import { describeError, type Log } from '../log.ts';
import type { Timers } from '../timers.ts';

/** Loops that every worker runs. Each shows life also when it has nothing to do. */
export const WORKER_LOOPS = ['inbox', 'sealer', 'alerts'] as const;
export type Part = (typeof WORKER_LOOPS)[number] | 'watch' | 'provider' | 'database' | 'DATA_DIR' | 'SPOOL_DIR';

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

/** Records that this process stops by itself. */
export async function recordStop({ db, clock, holder }: Pick<Process, 'db' | 'clock' | 'holder'>): Promise<void> {
  const stopped = db.updateTable('heartbeats').set({ stopped_at: clock.now() });
  await stopped.where('part', '=', 'database').where('holder', '=', holder).execute();
}

/**
 * Records that a part of this process is alive, and how far the clock of its machine is off.
 * @param more.shortBytes the free bytes of a disk that is nearly full.
 * @param more.facts what the part reports, as JSON of at most 2,000 characters.
 */
export async function recordHeartbeat(
  process: Pick<Process, 'db' | 'clock' | 'timers' | 'holder'>,
  part: Part,
  { shortBytes = null, facts = null }: { shortBytes?: number | null; facts?: string | null } = {},
): Promise<void> {
  const { db, clock, holder } = process;
  const about = { short_bytes: shortBytes, ahead_ms: measureAheadMs(process), facts, version: VERSION };
  const news = { host: hostname(), seen_at: clock.now(), ...about };
  await db
    .insertInto('heartbeats')
    .values({ part, holder, started_at: news.seen_at, ...news })
    .onDuplicateKeyUpdate(news)
    .execute();
}
