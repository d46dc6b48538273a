import { type Kysely, sql } from 'kysely';
import type { Database } from './tables.ts';

const MEASURE_EVERY_MS = 60_000;

/** The database's clock, which all replicas share: our own plus an offset that is measured again every minute. */
export type Clock = { now(): Date; measure(): Promise<void> };

export async function openClock(db: Kysely<Database>): Promise<Clock> {
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
    measure,
    now() {
      // measured aside: whoever asks for the time never waits, and a database that is away leaves the last offset
      if (Date.now() - measuredAt > MEASURE_EVERY_MS) void measure().catch(() => undefined);
      return new Date(Date.now() + offsetMs);
    },
  };
}
