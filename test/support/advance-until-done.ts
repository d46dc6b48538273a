import { sql } from 'kysely';
import type { TestEnvironment } from './open-environment.ts';

const STEP_MS = 500;

/**
 * Lets time pass until `work` is over, so that its back-off, Retry-After and idle waits take no time. Each step waits
 * for an answer of the database: the leases of this process are renewed meanwhile, however slow the machine is.
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
