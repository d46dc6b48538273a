import type { JobState } from './read-job-states.ts';

/** Returns a job as our API and `confere jobs --json` show it. */
export function presentJob({ last, ...job }: JobState) {
  return {
    name: job.name,
    cron: job.cron,
    last: last && {
      due_at: last.dueAt.toISOString(),
      started_at: toText(last.startedAt),
      finished_at: toText(last.finishedAt),
      outcome: last.outcome,
      error: last.error?.text ?? null,
      duration_s: toSeconds(last.durationMs),
      tries: last.tries,
      holder: last.holder,
    },
    last_success_at: toText(job.lastSuccessAt),
    next_at: toText(job.nextAt),
    overdue: job.overdue,
    failing: job.failing,
  };
}

function toText(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}

function toSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
