import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { LATE_DAYS, LOOKBACK_DAYS } from '../src/domain/late-days.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';
import { findUnclosedDay } from '../src/reports/serve/find-unclosed-day.ts';

/** A report that could not be closed for longer stays provisional: its days are read by a run that a person starts. */
const UNCLOSED_DAYS_MAX = 31;

/**
 * Queues a run of the creation days before the long jobs' reach that a report still waits for: after a night without
 * these jobs, or one in which a day could not be proven, nothing else would ever close it.
 */
export async function reconcileUnclosedDays(context: Context, trigger: string): Promise<void> {
  if (await hasActiveRun(context, trigger)) return;
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  const day = await findUnclosedDay(context.db, { from: addDays(yesterday, -UNCLOSED_DAYS_MAX), to: yesterday });
  if (day === undefined) return;
  const [from, to] = [addDays(day, -LATE_DAYS), addDays(yesterday, -LOOKBACK_DAYS)];
  await startRun(context, { from, to, trigger, createdBy: 'confere', how: 'count' });
}
