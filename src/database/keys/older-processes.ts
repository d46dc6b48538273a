import { type Kysely, sql } from 'kysely';
import type { Timers } from '../../timers.ts';
import type { Database } from '../tables.ts';

const CHECK_EVERY_MS = 60_000;

/** Whether processes of a version that can't read values bound to their place may still run. */
export type OlderProcesses = {
  /** Whether none does. Never waits: while they may run, the heartbeats are read again in the background, once a minute. */
  haveEnded: () => boolean;
  /** Reads the heartbeats; the tables are up to date. */
  check(): Promise<void>;
};

/**
 * Watches for the end of processes of earlier versions: a day after the last heartbeat without a version. The migration that added
 * versions left such a heartbeat for those that write none (0.1.0). Once they have ended none comes back: an earlier version refuses
 * tables that it does not know.
 */
export function watchOlderProcesses(db: Kysely<Database>, timers: Timers): OlderProcesses {
  let haveEnded = false;
  let checkedAtMs = timers.monotonicMs();
  async function check(): Promise<void> {
    checkedAtMs = timers.monotonicMs();
    const { rows } = await sql`SELECT 1 FROM heartbeats
      WHERE seen_at > UTC_TIMESTAMP(3) - INTERVAL 1 DAY AND version IS NULL LIMIT 1`.execute(db);
    haveEnded = rows.length === 0;
  }
  return {
    check,
    haveEnded() {
      const isDue = !haveEnded && timers.monotonicMs() - checkedAtMs >= CHECK_EVERY_MS;
      // without an answer they may still run
      if (isDue) void check().catch(() => undefined);
      return haveEnded;
    },
  };
}
