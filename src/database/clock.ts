import { type Kysely, sql } from 'kysely';
import { SYSTEM_TIMERS, type Timers } from '../timers.ts';
import type { Database } from './tables.ts';

const MEASURE_EVERY_MS = 60_000;

/**
 * The database's clock, which all replicas share: ours plus an offset that is measured again every minute. The offset is
 * between the two machines, so timers that a test has advanced stay advanced.
 */
export type Clock = { now(): Date; measureOffset(): Promise<void> };

export async function openClock(db: Kysely<Database>, timers: Timers = SYSTEM_TIMERS): Promise<Clock> {
  let offsetMs = 0;
  let measuredAt = 0;

  async function measure(): Promise<void> {
    measuredAt = Date.now();
    const sentAt = Date.now();
    const { rows } = await sql<{ at: Date }>`SELECT UTC_TIMESTAMP(3) AS at`.execute(db);
    // half of the round trip is the best guess of when it was read
    const middle = (sentAt + Date.now()) / 2;
    if (rows[0]) offsetMs = Math.round(rows[0].at.getTime() - middle);
  }

  await measure();
  return {
    measureOffset: measure,
    now() {
      // measured aside: whoever asks for the time never waits, and a database that is away leaves the last offset
      if (Date.now() - measuredAt > MEASURE_EVERY_MS) void measure().catch(() => undefined);
      return new Date(timers.now() + offsetMs);
    },
  };
}
