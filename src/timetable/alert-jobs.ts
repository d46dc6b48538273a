import { type NewAlert, syncAlerts } from '../alerts/raise-alerts.ts';
import type { Context } from '../context.ts';
import type { JobName } from './list-jobs.ts';
import { type JobState, readJobStates } from './read-job-states.ts';

/** People wait for the report; the other two prove the books. */
const IMPORTANT: ReadonlySet<JobName> = new Set(['daily_report', 'check_books', 'manifest']);

type Alert = Pick<NewAlert, 'scope' | 'severity' | 'summary'>;

/** Raises `job_failed` and `job_overdue` for the jobs to which they apply, and ends them for the others. */
export async function alertJobs(context: Context): Promise<void> {
  const states = await readJobStates(context);
  await syncAlerts(context, 'job_failed', states.filter((state) => state.failing).map(describeFailure));
  await syncAlerts(context, 'job_overdue', states.filter((state) => state.overdue).map(describeDelay));
}

function describeFailure(state: JobState): Alert {
  const error = state.last?.outcome === 'failed' ? `: ${state.last.error?.split(':')[0]}` : '';
  return describe(state, `failed (${describeTick(state)}${error}): confere jobs shows the error`);
}

function describeDelay(state: JobState): Alert {
  const late = state.last?.outcome === 'running' ? 'takes too long or was abandoned' : 'did not start in time';
  return describe(state, `${late} (${describeTick(state)}): see confere jobs`);
}

function describe({ name }: JobState, fault: string): Alert {
  return { scope: name, severity: IMPORTANT.has(name) ? 'high' : 'medium', summary: `job ${name} ${fault}` };
}

const describeTick = ({ last }: JobState): string =>
  last ? `its last tick was due at ${last.dueAt.toISOString()}` : 'it never ran';
