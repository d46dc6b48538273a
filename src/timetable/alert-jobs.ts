import { endAlerts, type NewAlert, raiseAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import type { JobName } from './list-jobs.ts';
import { type JobState, readJobStates } from './read-job-states.ts';

/** People wait for the report; the other two prove the books. */
const IMPORTANT: ReadonlySet<JobName> = new Set(['daily_report', 'check_books', 'manifest']);

/** Raises `job_failed` and `job_overdue` for the jobs to which they apply, and ends them for the others. */
export async function alertJobs(context: Context): Promise<void> {
  const alerts = (await readJobStates(context)).flatMap((state) => listAlerts(state));
  const rows = await context.db
    .selectFrom('alerts')
    .select('firing_scope')
    .where('firing_scope', 'in', alerts.map(firingScope))
    .execute();
  const firing = new Set(rows.map((row) => row.firing_scope));
  const changed = alerts.filter((alert) => alert.applies !== firing.has(firingScope(alert)));
  if (changed.length === 0) return;
  await transact(
    context.db,
    async (trx) => {
      const now = context.clock.now();
      const raised = changed.filter((alert) => alert.applies).map(({ applies: _, ...alert }) => alert);
      await raiseAlerts(trx, raised, now);
      const ended = changed.filter((alert) => !alert.applies);
      await endAlerts(trx, ended, now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

/** Lists both alerts of a job, with whether each applies. Pure. */
function listAlerts({ name, last, overdue, failing }: JobState): (NewAlert & { applies: boolean })[] {
  const alert = { scope: name, severity: IMPORTANT.has(name) ? ('high' as const) : ('medium' as const) };
  const tick = last ? `its last tick was due at ${last.dueAt.toISOString()}` : 'it never ran';
  const failed = last?.outcome === 'failed' ? `: ${last.error?.split(':')[0]}` : '';
  const late = last?.outcome === 'running' ? 'takes too long or was abandoned' : 'did not start in time';
  return [
    {
      ...alert,
      name: 'job_failed',
      applies: failing,
      summary: `job ${name} failed (${tick}${failed}): confere jobs shows the error`,
    },
    { ...alert, name: 'job_overdue', applies: overdue, summary: `job ${name} ${late} (${tick}): see confere jobs` },
  ];
}

const firingScope = (alert: NewAlert): string => `${alert.name} ${alert.scope}`;
