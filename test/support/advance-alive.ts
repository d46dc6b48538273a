/** Time that a test advances, which does not wait for a slow machine, and the signs of life of the loops that must keep up with it. */
import { WORKER_LOOPS } from '../../src/runtime/heartbeat.ts';
import { eventually } from './eventually.ts';
import type { TestEnvironment } from './open-environment.ts';

/** Advances by steps. Before each, the loops have had time to check and to beat. */
export async function advance({ timers, context }: TestEnvironment, steps: number[]): Promise<void> {
  for (const ms of steps) {
    await timers.advance(ms);
    for (let turn = 0; turn < 5; turn++) await context.db.selectFrom('settings').select('name').limit(1).execute();
  }
}

/** Whether each loop has shown life in the last 30 s. */
export async function areFresh({ context: { db, clock } }: TestEnvironment): Promise<boolean> {
  const since = new Date(clock.now().getTime() - 30_000);
  const rows = await db
    .selectFrom('heartbeats')
    .select('part')
    .distinct()
    .where('part', 'in', WORKER_LOOPS)
    .where('seen_at', '>=', since)
    .execute();
  return rows.length === WORKER_LOOPS.length;
}

/** Advances by steps, after each of which all loops show life. */
export async function advanceAlive(environment: TestEnvironment, steps: number[]): Promise<void> {
  for (const ms of steps) {
    await advance(environment, [ms]);
    await eventually('each loop has shown life', () => areFresh(environment));
  }
}
