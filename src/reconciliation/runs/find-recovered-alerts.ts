import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { readProvenWindows } from '../numbers/read-coverage.ts';
import { findGap } from './finish-run.ts';

/** The alert of failed runs: one for each trigger. */
export const RUN_FAILED = 'run_failed';

type FailedRange = { from: Day; to: Day; startedAt: Date };

/**
 * The alerts of failed runs that another run has made good: each day that they were to read was proven since. What a
 * person started and does not start again is over then too; the next run of a timetable's trigger is not waited for.
 */
export async function findRecoveredAlerts(db: Reader): Promise<{ name: string; scope: string }[]> {
  const firing = await db
    .selectFrom('alerts')
    .select('scope')
    .where('name', '=', RUN_FAILED)
    .where('firing_scope', 'is not', null)
    .execute();
  const over = [];
  for (const { scope } of firing) {
    if (await isMadeGood(db, await listFailed(db, scope))) over.push({ name: RUN_FAILED, scope });
  }
  return over;
}

/** What the runs of a trigger were to read that failed since the last one that went to its end. */
async function listFailed(db: Reader, trigger: string): Promise<FailedRange[]> {
  const last = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.max('finished_at').as('at'))
    .where('trigger', '=', trigger)
    .where('state', 'in', ['complete', 'incomplete'])
    .executeTakeFirst();
  const rows = await db
    .selectFrom('runs')
    .select(['from_day', 'to_day', (eb) => eb.fn.max('created_at').as('created_at')])
    .select((eb) => eb.fn.max('started_at').as('started_at'))
    .where('trigger', '=', trigger)
    .where('state', '=', 'failed')
    .$if(Boolean(last?.at), (query) => query.where('finished_at', '>', last?.at ?? new Date(0)))
    .groupBy(['from_day', 'to_day'])
    .execute();
  return rows.map((row) => ({
    from: row.from_day,
    to: row.to_day,
    startedAt: new Date(row.started_at ?? row.created_at),
  }));
}

async function isMadeGood(db: Reader, failed: FailedRange[]): Promise<boolean> {
  const [first] = failed.map((one) => one.from).sort();
  if (first === undefined) return false;
  const windows = (await readProvenWindows(db, first)).sort((a, b) => (a.from < b.from ? -1 : 1));
  return failed.every((run) => {
    // its own proven windows count: what it asked for itself was asked after it began
    const since = windows.filter((window) => window.at >= run.startedAt);
    return findGap(run, since) === undefined;
  });
}
