/**
 * Leases of days: no two runs read the same day of the list at once. A run leases the days of a window before it reads
 * them, and releases them when the window is finished. A day's lease lasts as long as its run's own, so it expires after
 * the process died. No run waits for a day while it holds another one, so no two runs wait for each other.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { listDays } from '../../domain/calendar.ts';
import { describeError } from '../../log.ts';
import type { RunRef, Window } from './run-ref.ts';

/**
 * Leases the first of these windows that no other run reads.
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
 * Releases the days of a window.
 * @returns false where the database failed: the run holds them until it releases them again, or until its lease ends.
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
    context.log.warn(
      { error: describeError(error), run: run.id },
      'releasing the days of a window failed; retrying before the next lease',
    );
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

/** Leases all days of a window, or none. @returns whether it did. */
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
      // no upsert: of two runs that find no row, the second must not take the day from the first
      if (fresh.length > 0) await trx.insertInto('run_days').values(fresh).execute();
      return true;
    },
    { retryDuplicates: true },
  );
}

/**
 * Whether any of these runs still holds its lease. Expired leases are deleted first: otherwise a run that was only slow
 * could renew its lease while another one reads its day.
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
