import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';

/**
 * Queues a run of the last days up to today, unless the one before is still active.
 * @param how `read`: each day whole; `count`: settled days by counts where they add up.
 */
export async function reconcileDays(
  context: Context,
  trigger: string,
  daysBack: number,
  how: 'read' | 'count' = 'read',
): Promise<void> {
  if (await hasActiveRun(context, trigger)) return;
  const today = context.calendar.dayOf(context.clock.now());
  context.signal.throwIfAborted();
  await startRun(context, { from: addDays(today, -daysBack), to: today, trigger, createdBy: 'confere', how });
}
