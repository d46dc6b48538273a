import { type AlertOfKind, syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import type { AlertFacts } from '../texts/alerts/alert-facts.ts';
import { summarize } from '../texts/alerts/describe-alert.ts';
import type { JobName } from './list-jobs.ts';
import { type JobState, readJobStates } from './read-job-states.ts';

/** People wait for the report; the others prove the books. */
const IMPORTANT: ReadonlySet<JobName> = new Set(['daily_report', 'check_books', 'check_all_books', 'manifest']);

/** Raises `job_failed` and `job_overdue` for the jobs to which they apply, and ends them for the others. */
export async function alertJobs(context: Context): Promise<void> {
  const states = await readJobStates(context);
  await syncAlerts(context, 'job_failed', states.filter((state) => state.failing).map(describeFailure));
  await syncAlerts(context, 'job_overdue', states.filter((state) => state.overdue).map(describeDelay));
}

function describeFailure(state: JobState): AlertOfKind {
  const error = state.last?.outcome === 'failed' ? state.last.error?.code : undefined;
  return describe('job_failed', state, { error });
}

function describeDelay(state: JobState): AlertOfKind {
  return describe('job_overdue', state, { isRunning: state.last?.outcome === 'running' });
}

function describe(kind: 'job_failed' | 'job_overdue', { name, last }: JobState, more: AlertFacts): AlertOfKind {
  const said = summarize(kind, { job: name, since: last?.dueAt.toISOString(), ...more });
  return { scope: name, severity: IMPORTANT.has(name) ? 'high' : 'medium', ...said };
}
