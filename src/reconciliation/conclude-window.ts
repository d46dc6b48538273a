import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { listDays } from '../domain/calendar.ts';
import { raiseMismatches, resolveMismatches } from '../ledger/mismatches.ts';
import type { RunRef, WindowRef, WindowResult } from './read-window.ts';

/** Writes what became of a window, and for each of its ended days whether it could be proven. */
export async function concludeWindow(
  context: Context,
  run: RunRef,
  window: WindowRef,
  result: WindowResult,
): Promise<void> {
  const now = context.clock.now();
  const today = context.calendar.dayOf(now);
  const days = listDays(window.fromDay, window.toDay).filter((day) => day < today);
  await transact(
    context.db,
    async (trx) => {
      await trx
        .updateTable('run_windows')
        .set({
          state: result.complete ? 'complete' : 'incomplete',
          passes: result.passes,
          total: result.total,
          seen: result.total,
          asked_at: result.askedAt,
          error: result.why ?? null,
        })
        .where('seq', '=', window.seq)
        .execute();
      const scopes = days.map((day) => ({ kind: 'list_unstable' as const, scope: unstableScope(day, run) }));
      if (result.complete) await resolveMismatches(trx, scopes, 'fresh_evidence', now);
      else {
        const found = scopes.map((one) => ({
          ...one,
          runSeq: run.seq,
          expected: { passes: 'one clean, or two alike' },
          actual: { passes: result.passes, last: result.why },
        }));
        await raiseMismatches(trx, found, now);
      }
    },
    { retryDuplicates: true },
  );
  if (!result.complete) context.bells.alerts.ring();
}

function unstableScope(day: string, run: RunRef): string {
  return run.platform ? `${day} ${run.platform}` : day;
}
