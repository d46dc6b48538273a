import type { Context } from '../context.ts';
import { type JobState, readJobStates } from './read-job-states.ts';

/** The metrics of each job, from the database: the same from every replica. */
export async function readJobMetrics(context: Context) {
  const states = await readJobStates(context);
  const gauge = (name: string, help: string, read: (state: JobState) => number | boolean) => ({
    name,
    help,
    values: states.map((state) => ({ labels: { name: state.name as string }, value: Number(read(state)) })),
  });
  return [
    gauge(
      'confere_job_last_success_timestamp_seconds',
      "End of the job's last tick without an error; 0 before the first.",
      ({ lastSuccessAt }) => (lastSuccessAt?.getTime() ?? 0) / 1000,
    ),
    gauge(
      'confere_job_last_duration_seconds',
      "Duration of the job's last tick that ended; 0 before the first.",
      ({ lastDurationMs }) => (lastDurationMs ?? 0) / 1000,
    ),
    gauge(
      'confere_job_overdue',
      '1 while a tick of the job did not start in time, or takes too long; 0 where the job is off.',
      ({ overdue }) => overdue,
    ),
    gauge(
      'confere_job_last_failed',
      "1 if the job's last tick that ended has failed.",
      ({ lastFailed }) => lastFailed === true,
    ),
  ];
}
