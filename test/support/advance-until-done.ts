import { sql } from 'kysely';
import type { TestEnvironment } from './open-environment.ts';

const STEP_MS = 500;

/**
 * Advances the timers until `work` settles, so that its back-off, Retry-After and idle waits take no time. Each step waits
 * for an answer of the database, so that this process renews its leases meanwhile, also on a slow machine.
 */
export async function advanceUntilDone<T>(environment: Pick<TestEnvironment, 'context' | 'timers'>, work: Promise<T>) {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    await environment.timers.advance(STEP_MS);
    await sql`SELECT 1`.execute(environment.context.db);
  }
  return await work;
}
