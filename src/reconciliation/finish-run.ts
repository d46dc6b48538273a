import type { Context } from '../context.ts';
import { runsFinished } from '../metrics/metrics.ts';
import type { RunRef } from './run-ref.ts';

/** Writes how a run ended. @param error why it failed; undefined when it went to its end. */
export async function finishRun(context: Context, run: RunRef, error: string | undefined): Promise<void> {
  const windows = await context.db
    .selectFrom('run_windows')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('run_pages')
        .whereRef('run_pages.window_seq', '=', 'run_windows.seq')
        .select((count) => count.fn.countAll<number>().as('fetched'))
        .as('fetched'),
    )
    .where('run_seq', '=', run.seq)
    .orderBy('from_day')
    .execute();
  const counted = windows.filter((window) => window.state === 'counted');
  const unproven = windows.filter((window) => window.state !== 'complete' && window.state !== 'counted');
  const state = error !== undefined ? 'failed' : unproven.length > 0 ? 'incomplete' : 'complete';
  const sum = (pick: (window: (typeof windows)[number]) => number): number =>
    windows.reduce((total, window) => total + pick(window), 0);
  const result = await context.db
    .updateTable('runs')
    .set({
      state,
      pages: sum((window) => Number(window.fetched ?? 0)),
      passes: Math.max(0, ...windows.map((window) => window.passes)),
      total: sum((window) => window.total ?? 0),
      seen: sum((window) => window.seen),
      applied: sum((window) => window.applied),
      days_counted: counted.length,
      finished_at: context.clock.now(),
      error: error ?? unproven[0]?.error ?? null,
      lease_holder: null,
      lease_until: null,
    })
    .where('seq', '=', run.seq)
    .where('lease_holder', '=', context.holder)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return;
  runsFinished.inc({ state });
  context.log.info({ run: run.id, state, windows: windows.length, unproven: unproven.length }, 'run finished');
}
