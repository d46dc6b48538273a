import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { listOpenDays } from '../src/reconciliation/runs/plan-run.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';

/** Queues a run, each night, of the days before the last ones that still have an open transaction. */
export async function reconcileOpenDays(context: Context, trigger: string, daysBack: number): Promise<void> {
  if (await hasActiveRun(context, trigger)) return;
  const today = context.calendar.dayOf(context.clock.now());
  const days = await listOpenDays(context, addDays(today, -daysBack - 1));
  const [from, to] = [days[0], days.at(-1)];
  if (from === undefined || to === undefined) return;
  context.signal.throwIfAborted();
  await startRun(context, { from, to, trigger, createdBy: 'confere', how: 'open' });
}
