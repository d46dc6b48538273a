import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { readProvenWindows } from '../numbers/read-coverage.ts';
import { findGap } from './finish-run.ts';

/** The alert of failed runs: one for each trigger. */
export const RUN_FAILED = 'run_failed';

type FailedRange = { from: Day; to: Day; startedAt: Date };

/**
 * Finds the alerts of failed runs whose days were all proven since by other runs. This also ends the alert of a run that
 * a person started and does not repeat, and does not wait for the next run of the timetable.
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
    if (await isRecovered(db, await listFailed(db, scope))) over.push({ name: RUN_FAILED, scope });
  }
  return over;
}

/** The ranges of a trigger's runs that failed after its last run without an error. */
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

async function isRecovered(db: Reader, failed: FailedRange[]): Promise<boolean> {
  const [first] = failed.map((one) => one.from).sort();
  if (first === undefined) return false;
  const windows = (await readProvenWindows(db, first)).sort((a, b) => compareText(a.from, b.from));
  return failed.every((run) => {
    // the failed run's own proven windows count: they were read after it began
    const since = windows.filter((window) => window.askedAt >= run.startedAt);
    return findGap(run, since) === undefined;
  });
}
