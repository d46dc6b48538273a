import { type Kysely, sql } from 'kysely';
import { SYSTEM_TIMERS, type Timers } from '../timers.ts';
import type { Database } from './tables.ts';

/** A larger difference between the clocks of a machine and of the database is reported. */
export const CLOCK_MS_MAX = 2_000;
const MEASURE_EVERY_MS = 60_000;
/** The machine's clock was set if it moved by this much more or less than time passed. */
const STEP_MS_MIN = 500;
/** A longer round trip waited for a connection, perhaps to another host: its middle says nothing. The last offset stays. */
const ROUND_TRIP_MS_MAX = 2_000;

/**
 * The database's clock, which all replicas share: the local clock plus an offset that is measured every minute, and
 * when the local clock was set. The offset is measured between the real clocks, so timers that a test has advanced stay
 * advanced.
 */
export type Clock = { now(): Date; measureOffset(): Promise<void> };

/** How far this machine's clock is ahead of the database's, in ms; behind: below 0. */
export function measureAheadMs({ clock, timers }: { clock: Pick<Clock, 'now'>; timers: Timers }): number {
  return timers.now() - clock.now().getTime();
}

export async function openClock(db: Kysely<Database>, timers: Timers = SYSTEM_TIMERS): Promise<Clock> {
  let offsetMs: number | undefined;
  let measuredAt = { wallMs: 0, monotonicMs: 0 };

  async function measure(): Promise<void> {
    const sent = { wallMs: Date.now(), monotonicMs: performance.now() };
    measuredAt = sent;
    const { rows } = await sql<{ at: Date }>`SELECT UTC_TIMESTAMP(3) AS at`.execute(db);
    const isLate = performance.now() - sent.monotonicMs > ROUND_TRIP_MS_MAX;
    if (!rows[0] || (isLate && offsetMs !== undefined)) return;
    // assume that the server read its clock in the middle of the round trip
    offsetMs = Math.round(rows[0].at.getTime() - (sent.wallMs + Date.now()) / 2);
  }

  function isDue(): boolean {
    const passedMs = performance.now() - measuredAt.monotonicMs;
    const steppedMs = Date.now() - measuredAt.wallMs - passedMs;
    return passedMs > MEASURE_EVERY_MS || Math.abs(steppedMs) > STEP_MS_MIN;
  }

  await measure();
  return {
    measureOffset: measure,
    now() {
      // measured in the background: `now` never waits, and if the database is unavailable, the last offset stays
      if (isDue()) void measure().catch(() => undefined);
      return new Date(timers.now() + (offsetMs ?? 0));
    },
  };
}
