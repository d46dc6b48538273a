import type { Command } from 'commander';
import { WORK } from '../../jobs/main.ts';
import { runTick, type TickOutcome } from '../../jobs/run-tick.ts';
import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { JOB_NAMES, listJobs } from '../timetable/list-jobs.ts';
import { presentJob } from '../timetable/present-job.ts';
import { type JobState, readJobStates } from '../timetable/read-job-states.ts';
import { print, withContext } from './with-context.ts';

type Output = { json?: boolean };

const OUTCOMES: Record<TickOutcome, string> = {
  skipped: 'another tick of this job is running; nothing was started',
  taken: 'another process has just started this tick',
  done: 'done',
  failed: 'failed; the log above has the place',
  lost: 'this process lost its lease; a worker runs the tick again',
  released: 'stopped; a worker continues the tick within 20 s',
};

/** `confere jobs …`: the timetable, and a job right now. */
export function jobsCommand(program: Command): void {
  const jobs = program.command('jobs').description('jobs of the timetable: their last and next ticks');
  jobs
    .command('list', { isDefault: true })
    .description('list the jobs, in the time of the provider')
    .option('--json', 'print one JSON object')
    .action((options: Output) => withContext({}, (context) => list(context, options)));
  jobs
    .command('run <name>')
    .description('run a job now, unless it is running')
    .option('--json', 'print one JSON object')
    .action((name: string, options: Output) => {
      const known = JOB_NAMES.find((one) => one === name);
      if (!known) throw new ConfereError('wrong_use', `there is no job ${name}; the jobs are ${JOB_NAMES.join(', ')}`);
      return withContext({}, (context) => run(context, known, options));
    });
}

async function list(context: Context, options: Output): Promise<void> {
  const states = await readJobStates(context);
  const { zone } = context.calendar;
  const offset = context.calendar.toIso(context.calendar.toWallTime(context.clock.now())).slice(-6);
  const lines = states.map((state) => describe(context, state));
  print(options.json, { jobs: states.map(presentJob) }, [`times of ${zone}, UTC${offset}`, ...lines].join('\n'));
}

async function run(context: Context, name: (typeof JOB_NAMES)[number], options: Output): Promise<number> {
  if (listJobs(context.config).find((job) => job.name === name)?.cron === 'off')
    throw new ConfereError('wrong_use', `the job ${name} is off: JOBS and JOB_${name.toUpperCase()} turn it on`);
  await auditChange(context, async () => undefined, { actor: 'command', action: 'jobs.run', target: name });
  const outcome = await runTick(context, { job: name, dueAt: context.clock.now() }, WORK[name]);
  const state = (await readJobStates(context)).find((one) => one.name === name);
  const error = outcome === 'failed' ? ` (${state?.last?.error})` : '';
  print(options.json, { outcome, job: state && presentJob(state) }, `${name}: ${OUTCOMES[outcome]}${error}`);
  return outcome === 'done' ? 0 : 1;
}

function describe({ calendar }: Context, { name, cron, last, nextAt, overdue }: JobState): string {
  const at = (instant: Date | null): string => (instant ? calendar.toWallTime(instant) : '-');
  const took = last?.durationMs == null ? '' : ` (${last.durationMs / 1000} s)`;
  return [
    [name.padEnd(18), cron.padEnd(14), (last?.outcome ?? 'never ran').padEnd(9), `next ${at(nextAt)}`]
      .concat(overdue ? 'OVERDUE' : [])
      .join('  '),
    ...(last ? [`  due ${at(last.dueAt)}, started ${at(last.startedAt)}, finished ${at(last.finishedAt)}${took}`] : []),
    ...(last?.holder ? [`  runs in ${last.holder}, try ${last.tries}`] : []),
    ...(last?.error ? [`  ${last.error}`] : []),
  ].join('\n');
}
