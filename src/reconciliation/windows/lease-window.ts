/**
 * No two runs read the same day of the list at once: a run takes the days of a window before it asks for them, and gives
 * them back when the window is concluded. A day is held for as long as its run's own lease: that of a process that died
 * runs out with it. Nobody waits for a day while it holds another one, so no two can wait for each other.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { listDays } from '../../domain/calendar.ts';
import { describeError } from '../../log.ts';
import type { RunRef, Window } from './run-ref.ts';

/**
 * Takes the first of these windows that no other run reads.
 * @returns undefined where all of them are being read.
 */
export async function leaseWindow<T extends Window>(
  context: Context,
  run: RunRef,
  windows: T[],
): Promise<T | undefined> {
  const busy = await listBusyDays(context, run);
  for (const window of windows) {
    const isBusy = busy.some((day) => day >= window.fromDay && day <= window.toDay);
    if (!isBusy && (await leaseDays(context, run, window))) return window;
  }
  return undefined;
}

/**
 * Gives the days of a window back.
 * @returns false where the database refused: they are this run's until that is done again, or the run's lease ends.
 */
export async function releaseWindow(context: Context, run: RunRef, window: Window): Promise<boolean> {
  try {
    await transact(context.db, (trx) =>
      trx
        .deleteFrom('run_days')
        .where('day', 'in', listDays(window.fromDay, window.toDay))
        .where('holder', '=', run.holder)
        .execute(),
    );
    return true;
  } catch (error) {
    context.log.warn({ error: describeError(error), run: run.id }, 'days were not given back yet');
    return false;
  }
}

async function listBusyDays(context: Context, run: RunRef): Promise<string[]> {
  const rows = await context.db
    .selectFrom('run_days')
    .innerJoin('runs', (join) =>
      join.onRef('runs.seq', '=', 'run_days.run_seq').onRef('runs.lease_holder', '=', 'run_days.holder'),
    )
    .select('run_days.day')
    .where('runs.lease_until', '>=', context.clock.now())
    .where('run_days.holder', '!=', run.holder)
    .execute();
  return rows.map((row) => row.day);
}

/** All days of a window, or none. @returns whether they are this run's now. */
async function leaseDays(context: Context, run: RunRef, window: Window): Promise<boolean> {
  const days = listDays(window.fromDay, window.toDay);
  return await transact(
    context.db,
    async (trx) => {
      const rows = await trx
        .selectFrom('run_days')
        .selectAll()
        .where('day', 'in', days)
        .orderBy('day')
        .forUpdate()
        .execute();
      const others = rows.filter((row) => row.holder !== run.holder);
      if (others.length > 0 && (await isHeld(trx, others, context.clock.now()))) return false;
      const known = rows.map((row) => row.day);
      const ours = { run_seq: run.seq, holder: run.holder };
      if (known.length > 0) await trx.updateTable('run_days').set(ours).where('day', 'in', known).execute();
      const fresh = days.filter((day) => !known.includes(day)).map((day) => ({ day, ...ours }));
      // not as an upsert: of two that find no row, the second must not take the day from the first
      if (fresh.length > 0) await trx.insertInto('run_days').values(fresh).execute();
      return true;
    },
    { retryDuplicates: true },
  );
}

/**
 * Whether any of these is still at work. A lease that ran out is ended for good first: else its run, which may only have
 * been slow, could renew it while another one reads its day.
 */
async function isHeld(
  trx: Transaction<Database>,
  days: { run_seq: number; holder: string }[],
  now: Date,
): Promise<boolean> {
  const seqs = [...new Set(days.map((day) => day.run_seq))];
  const holders = [...new Set(days.map((day) => day.holder))];
  await trx
    .updateTable('runs')
    .set({ lease_holder: null, lease_until: null })
    .where('seq', 'in', seqs)
    .where('lease_holder', 'in', holders)
    .where('lease_until', '<', now)
    .execute();
  const held = await trx
    .selectFrom('runs')
    .select('seq')
    .where('seq', 'in', seqs)
    .where('lease_holder', 'in', holders)
    .forUpdate()
    .execute();
  return held.length > 0;
}
