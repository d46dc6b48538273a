import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { startRun } from '../src/reconciliation/start-run.ts';

/** Queues a run of the last days up to today, unless the one before it is not done yet. */
export async function reconcileDays(context: Context, trigger: string, daysBack: number): Promise<void> {
  const open = await context.db
    .selectFrom('runs')
    .select('seq')
    .where('state', 'in', ['queued', 'running'])
    .where('trigger', '=', trigger)
    .executeTakeFirst();
  if (open) return;
  const today = context.calendar.dayOf(context.clock.now());
  await startRun(context, { from: addDays(today, -daysBack), to: today, trigger, createdBy: 'confere' });
}
