import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { InvariantError } from '../../domain/errors.ts';
import { largest } from '../../domain/lists.ts';
import { runsFinished } from '../../metrics/metrics.ts';
import { readError, type Said, storeError } from '../../texts/messages.ts';
import type { RunRef } from '../windows/run-ref.ts';

/**
 * Writes the result of a run.
 * @param error why it failed; undefined where it ended without an error.
 * @throws InvariantError where it ended without an error but none of its windows holds a day of its range: that day was not read.
 */
export async function finishRun(context: Context, run: RunRef, error: Said | undefined): Promise<void> {
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
  const unread = run.how === 'open' ? undefined : findGap(run, windows.map(toRange));
  if (error === undefined && unread) throw new InvariantError(`no window of run ${run.id} holds ${unread}`);
  const counted = windows.filter((window) => window.state === 'counted');
  const recent = windows.filter((window) => window.state === 'recent');
  const unproven = windows.filter(({ state: proof }) => !['complete', 'counted', 'recent'].includes(proof));
  const state = error !== undefined ? 'failed' : unproven.length > 0 ? 'incomplete' : 'complete';
  const sum = (pick: (window: (typeof windows)[number]) => number): number =>
    windows.reduce((total, window) => total + pick(window), 0);
  const result = await context.db
    .updateTable('runs')
    .set({
      state,
      pages: sum((window) => Number(window.fetched ?? 0)),
      passes: Math.max(0, largest(windows.map((window) => window.passes))),
      // unknown, not 0, where no window was read
      total: windows.some((window) => window.total !== null)
        ? Math.min(
            TOTAL_MAX,
            sum((window) => window.total ?? 0),
          )
        : null,
      seen: sum((window) => window.seen),
      applied: sum((window) => window.applied),
      days_counted: counted.length,
      days_recent: recent.length,
      finished_at: context.clock.now(),
      ...storeError(error ?? (unproven[0] && readError(unproven[0]))),
      lease_holder: null,
      lease_until: null,
    })
    .where('seq', '=', run.seq)
    .where('lease_holder', '=', run.holder)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return;
  runsFinished.inc({ state });
  context.log.info({ run: run.id, state, windows: windows.length, unproven: unproven.length }, 'run finished');
}

/** Limit of the column; a provider may announce any number. */
const TOTAL_MAX = 2_147_483_647;

type Range = { from: Day; to: Day };

const toRange = (window: { from_day: Day; to_day: Day }): Range => ({ from: window.from_day, to: window.to_day });

/** The first day of a range that no window holds. @param windows in order of days. */
export function findGap(range: Range, windows: Range[]): Day | undefined {
  let next = range.from;
  for (const window of windows) {
    if (window.from > next) break;
    if (window.to >= next) next = addDays(window.to, 1);
  }
  return next > range.to ? undefined : next;
}
