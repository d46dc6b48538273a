/**
 * Takes up queued runs, and runs whose process died, one at a time, until the signal. A run's windows are proven one
 * by one and stay proven: who takes a run over goes on with those that are not.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type Bell, createBell, poll } from '../database/poll.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { describeError } from '../log.ts';
import { runsFinished } from '../metrics/metrics.ts';
import type { ProviderClient } from '../provider/client.ts';
import { endRunAlert, raiseRunAlert } from './alert-runs.ts';
import { concludeWindow } from './conclude-window.ts';
import { holdLease, LEASE_MS, LeaseLost } from './hold-lease.ts';
import { checkBounds, readBounds } from './learn-bounds.ts';
import { planWindows } from './plan-windows.ts';
import { type RunRef, readWindow, type WindowRef } from './read-window.ts';
import { settleOwedWebhooks } from './settle-owed-webhooks.ts';

const IDLE_MS = 1_000;
const SHORT_DAYS_MAX = 8;
/** The run that holds what was learnt of the list against the list again. */
const WEEKLY = 'reconcile_quarter';

export type Progress = (done: { windows: number; of: number; pages: number; seen: number }) => void;

/** The worker's loop. */
export async function workRuns(context: Context, client: ProviderClient): Promise<void> {
  const lane = (name: string, bell: Bell, daysMax: number): Promise<void> =>
    poll({
      name,
      bell,
      idleMs: IDLE_MS,
      log: context.log,
      signal: context.signal,
      work: async () => {
        const run = await claimRun(context, undefined, daysMax);
        if (run) await executeRun(context, client, run);
        return run !== undefined;
      },
    });
  // a backfill of years must not keep today waiting: short runs have a lane of their own
  await Promise.all([
    lane('runs', context.bells.runs, Number.MAX_SAFE_INTEGER),
    lane('short runs', createBell(), SHORT_DAYS_MAX),
  ]);
}

/** Claims one run by its id, or the oldest of at most so many days that is queued or abandoned. */
export async function claimRun(
  context: Context,
  id: string | undefined,
  daysMax: number = Number.MAX_SAFE_INTEGER,
): Promise<RunRef | undefined> {
  const now = context.clock.now();
  return await transact(context.db, async (trx) => {
    let query = trx
      .selectFrom('runs')
      .select(['seq', 'id', 'platform', 'trigger', 'started_at'])
      .where('state', 'in', ['queued', 'running'])
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
      .where(sql<number>`DATEDIFF(to_day, from_day)`, '<', daysMax)
      .orderBy('seq')
      .limit(1)
      .forUpdate()
      .skipLocked();
    if (id !== undefined) query = query.where('id', '=', id);
    const row = await query.executeTakeFirst();
    if (!row) return undefined;
    await trx
      .updateTable('runs')
      .set({
        state: 'running',
        started_at: row.started_at ?? now,
        lease_holder: context.holder,
        lease_until: new Date(now.getTime() + LEASE_MS),
      })
      .where('seq', '=', row.seq)
      .execute();
    return { seq: row.seq, id: row.id, platform: row.platform, trigger: row.trigger };
  });
}

/** Reads the windows of a claimed run that are not proven yet, and writes how it ended. */
export async function executeRun(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  onProgress: Progress = () => undefined,
): Promise<void> {
  using lease = holdLease(context, run);
  try {
    const windows = await planRun(context, client, run);
    for (const [index, window] of windows.planned.entries()) {
      const result = await readWindow(context, client, run, window, () => lease.check());
      await concludeWindow(context, run, window, result);
      const done = windows.done + index + 1;
      onProgress({ windows: done, of: windows.done + windows.planned.length, pages: result.pages, seen: result.total });
    }
    await settleOwedWebhooks(context);
    lease.check();
    await finishRun(context, run, undefined);
    await endRunAlert(context);
  } catch (error) {
    if (error instanceof LeaseLost) {
      context.log.warn({ run: run.id }, 'another process has taken this run up');
    } else if (context.signal.aborted) {
      await releaseRun(context, run);
    } else {
      context.log.error({ error: describeError(error), run: run.id }, 'a reconciliation run failed');
      const message = error instanceof ConfereError ? error.message : 'an unexpected failure: see the log';
      await finishRun(context, run, message);
      await raiseRunAlert(context, run, error);
    }
  }
}

async function planRun(
  context: Context,
  client: ProviderClient,
  run: RunRef,
): Promise<{ planned: WindowRef[]; done: number }> {
  const find = () =>
    context.db
      .selectFrom('run_windows')
      .select(['seq', 'from_day as fromDay', 'to_day as toDay', 'state'])
      .where('run_seq', '=', run.seq)
      .orderBy('from_day')
      .execute();
  let rows = await find();
  if (rows.length === 0) {
    const range = await context.db
      .selectFrom('runs')
      .select(['from_day', 'to_day'])
      .where('seq', '=', run.seq)
      .executeTakeFirstOrThrow();
    if (run.trigger === WEEKLY) await checkBounds(context, client, { from: range.from_day, to: range.to_day });
    const windows = planWindows(range.from_day, range.to_day, await readBounds(context));
    await context.db
      .insertInto('run_windows')
      .values(
        windows.map((window) => ({
          run_seq: run.seq,
          from_day: window.fromDay,
          to_day: window.toDay,
          platform: run.platform,
          state: 'planned',
        })),
      )
      .execute();
    rows = await find();
  }
  const planned = rows.filter((row) => row.state === 'planned');
  return { planned, done: rows.length - planned.length };
}

async function finishRun(context: Context, run: RunRef, error: string | undefined): Promise<void> {
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
  const unproven = windows.filter((window) => window.state !== 'complete');
  const state = error !== undefined ? 'failed' : unproven.length > 0 ? 'incomplete' : 'complete';
  const sum = (pick: (window: (typeof windows)[number]) => number): number =>
    windows.reduce((total, window) => total + pick(window), 0);
  await context.db
    .updateTable('runs')
    .set({
      state,
      pages: sum((window) => Number(window.fetched ?? 0)),
      passes: Math.max(0, ...windows.map((window) => window.passes)),
      total: sum((window) => window.total ?? 0),
      seen: sum((window) => window.seen),
      applied: sum((window) => window.applied),
      finished_at: context.clock.now(),
      error: error ?? unproven[0]?.error ?? null,
      lease_holder: null,
      lease_until: null,
    })
    .where('seq', '=', run.seq)
    .where('lease_holder', '=', context.holder)
    .execute();
  runsFinished.inc({ state });
  context.log.info({ run: run.id, state, windows: windows.length, unproven: unproven.length }, 'run finished');
}

async function releaseRun(context: Context, run: RunRef): Promise<void> {
  await context.db
    .updateTable('runs')
    .set({ lease_holder: null, lease_until: null })
    .where('seq', '=', run.seq)
    .where('lease_holder', '=', context.holder)
    .execute();
}
