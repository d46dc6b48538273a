import type { Context } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { LATE_DAYS, LOOKBACK_DAYS } from '../src/domain/late-days.ts';
import { listOpenDays } from '../src/reconciliation/runs/plan-run.ts';
import { hasActiveRun, startRun } from '../src/reconciliation/runs/start-run.ts';
import { findUnclosedDay } from '../src/reports/serve/find-unclosed-day.ts';

/** An older report that is not closed stays provisional until a person starts a run of its days. */
const UNCLOSED_DAYS_MAX = 31;

/**
 * Queues a run of the last days up to today, unless the one before is still active.
 * @param how `read`: each day whole; `count`: settled days by counts where they add up; `recent`: what is new.
 */
export async function reconcileDays(
  context: Context,
  trigger: string,
  daysBack: number,
  how: 'read' | 'count' | 'recent' = 'read',
): Promise<void> {
  if (await hasActiveRun(context, trigger)) return;
  const today = context.calendar.dayOf(context.clock.now());
  context.signal.throwIfAborted();
  await startRun(context, { from: addDays(today, -daysBack), to: today, trigger, createdBy: 'confere', how });
}

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

/**
 * Queues a run of the creation days that an unclosed report needs and that lie before the reach of the long jobs. After a
 * night without these jobs, or with a day that was not proven, no other job would close the report.
 */
export async function reconcileUnclosedDays(context: Context, trigger: string): Promise<void> {
  if (await hasActiveRun(context, trigger)) return;
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  const day = await findUnclosedDay(context.db, { from: addDays(yesterday, -UNCLOSED_DAYS_MAX), to: yesterday });
  if (day === undefined) return;
  const [from, to] = [addDays(day, -LATE_DAYS), addDays(yesterday, -LOOKBACK_DAYS)];
  context.signal.throwIfAborted();
  await startRun(context, { from, to, trigger, createdBy: 'confere', how: 'count' });
}
