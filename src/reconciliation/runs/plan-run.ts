import { type Kysely, sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { FINAL_STATUSES } from '../../domain/statuses.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { readError, type Said } from '../../texts/messages.ts';
import { checkBounds, readBounds } from '../windows/learn-bounds.ts';
import { planWindows } from '../windows/plan-windows.ts';
import type { RunRef, Window, WindowRef } from '../windows/run-ref.ts';

/** The trigger whose runs check the learnt bounds of the list again. */
const WEEKLY = 'reconcile_quarter';
/** Limit of old days with an open transaction in one run; those that waited longest come first. */
const OPEN_DAYS_MAX = 200;
/** All other statuses are open, unknown ones too. */

/** The windows left of a run. */
export type RunPlan = {
  planned: WindowRef[];
  /** How many windows are finished. */
  finished: number;
  /** The error of the first window that broke before the run was released. Broken windows are not tried again. */
  firstError: Said | undefined;
};

/** Plans the windows of a run, once. @returns the windows that are neither finished nor known to be broken. */
export async function planRun(context: Context, client: ProviderClient, run: RunRef): Promise<RunPlan> {
  let rows = await findWindows(context, run);
  if (rows.length === 0) {
    if (run.trigger === WEEKLY) await checkBounds(context, client, run);
    await insertWindows(context.db, run, await listWindows(context, run));
    rows = await findWindows(context, run);
  }
  const left = rows.filter((row) => row.state === 'planned');
  const broken = left.find((row) => row.error !== null);
  return {
    planned: left.filter((row) => row.error === null),
    finished: rows.length - left.length,
    firstError: broken && readError(broken),
  };
}

/**
 * Cuts the remaining wide windows into days once the list's bounds are learnt in the middle of a run: wide windows query
 * a day more on both sides, and only prove their days together. In one transaction: a run that lost windows in between would end as complete without having
 * read them.
 * @param planned in order of days. @returns the remaining windows.
 */
export async function replanRun(context: Context, run: RunRef, planned: WindowRef[]): Promise<WindowRef[]> {
  const bounds = await readBounds(context);
  const wide = planned.filter((window) => window.fromDay !== window.toDay);
  if (!bounds || wide.length === 0) return planned;
  await transact(context.db, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('run_windows')
      .where(
        'seq',
        'in',
        wide.map((window) => window.seq),
      )
      .where('state', '=', 'planned')
      .executeTakeFirstOrThrow();
    // an earlier commit whose answer was lost has cut them already
    if (numDeletedRows === 0n) return;
    const days = wide.flatMap((window) => planWindows(window.fromDay, window.toDay, bounds));
    await insertWindows(trx, run, days);
  });
  const rows = await findWindows(context, run);
  return rows.filter((row) => row.state === 'planned' && isWithin(row, planned));
}

function isWithin(day: Window, windows: Window[]): boolean {
  return windows.some((window) => window.fromDay <= day.fromDay && day.toDay <= window.toDay);
}

async function findWindows(context: Context, run: RunRef) {
  return await context.db
    .selectFrom('run_windows')
    .select(['seq', 'from_day as fromDay', 'to_day as toDay', 'state', 'error', 'error_says'])
    .where('run_seq', '=', run.seq)
    .orderBy('from_day')
    .execute();
}

async function listWindows(context: Context, run: RunRef): Promise<Window[]> {
  if (run.how !== 'open') return planWindows(run.from, run.to, await readBounds(context));
  const days = await listOpenDays(context, run.to);
  return days.filter((day) => day >= run.from).map((day) => ({ fromDay: day, toDay: day }));
}

async function insertWindows(db: Kysely<Database>, run: RunRef, windows: Window[]): Promise<void> {
  if (windows.length === 0) return;
  await db
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
}

/** Days up to `to` with an open transaction, in order of days; where there are too many, those unproven for longest. */
export async function listOpenDays(context: Context, to: Day): Promise<Day[]> {
  const day = sql<string>`LEFT(created_wall, 10)`;
  const open = await context.db
    .selectFrom('transactions')
    .select(day.as('day'))
    .where('status', 'not in', FINAL_STATUSES)
    .where('created_wall', '<', `${addDays(to, 1)} 00:00:00`)
    .groupBy(day)
    .execute();
  if (open.length <= OPEN_DAYS_MAX) return open.map((row) => row.day).sort();
  const days = open.map((row) => row.day);
  const proven = await context.db
    .selectFrom('run_windows')
    .select(['from_day', (eb) => eb.fn.max('seq').as('last')])
    .where('state', 'in', ['complete', 'counted'])
    .where('from_day', 'in', days)
    .groupBy('from_day')
    .execute();
  const last = new Map(proven.map((row) => [row.from_day, Number(row.last)]));
  return days
    .sort((a, b) => (last.get(a) ?? 0) - (last.get(b) ?? 0))
    .slice(0, OPEN_DAYS_MAX)
    .sort();
}
