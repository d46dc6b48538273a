import type { Command } from 'commander';
import { WORK } from '../../jobs/main.ts';
import { runTick, type TickOutcome } from '../../jobs/run-tick.ts';
import { auditChange } from '../access/audit.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { jobs } from '../operations/jobs.ts';
import { JOB_NAMES, listJobs } from '../timetable/list-jobs.ts';
import { presentJob } from '../timetable/present-job.ts';
import { readJobStates } from '../timetable/read-job-states.ts';
import { itemCommand } from './operation-commands.ts';
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
  const group = program.command('jobs').description('jobs of the timetable: their last and next ticks');
  itemCommand(group, jobs, {
    description: 'list the jobs, in the time of the provider',
    isDefault: true,
    say: (shown, context) => describeAll(context, shown.jobs),
  });
  group
    .command('run <name>')
    .description('run a job now, unless it is running')
    .option('--json', 'print one JSON object')
    .action((name: string, options: Output) => {
      const known = JOB_NAMES.find((one) => one === name);
      if (!known) throw new ConfereError('wrong_use', `there is no job ${name}; the jobs are ${JOB_NAMES.join(', ')}`);
      return withContext({}, (context) => run(context, known, options));
    });
}

async function run(context: Context, name: (typeof JOB_NAMES)[number], options: Output): Promise<number> {
  if (listJobs(context.config).find((job) => job.name === name)?.cron === 'off')
    throw new ConfereError('wrong_use', `the job ${name} is off: JOBS and JOB_${name.toUpperCase()} turn it on`);
  await auditChange(context, async () => undefined, { actor: 'command', action: 'jobs.run', target: name });
  const outcome = await runTick(context, { job: name, dueAt: context.clock.now() }, WORK[name]);
  const state = (await readJobStates(context)).find((one) => one.name === name);
  const error = outcome === 'failed' ? ` (${state?.last?.error?.text})` : '';
  print(options.json, { outcome, job: state && presentJob(state) }, `${name}: ${OUTCOMES[outcome]}${error}`);
  return outcome === 'done' ? 0 : 1;
}

function describeAll({ calendar, clock }: Context, states: ReturnType<typeof presentJob>[]): string {
  const offset = calendar.toIso(calendar.toWallTime(clock.now())).slice(-6);
  const at = (instant: string | null): string => (instant ? calendar.toWallTime(new Date(instant)) : '-');
  const lines = states.flatMap(({ name, cron, last, next_at, overdue }) => {
    const took = last?.duration_s == null ? '' : ` (${last.duration_s} s)`;
    return [
      [name.padEnd(18), cron.padEnd(14), (last?.outcome ?? 'never ran').padEnd(9), `next ${at(next_at)}`]
        .concat(overdue ? 'OVERDUE' : [])
        .join('  '),
      ...(last
        ? [`  due ${at(last.due_at)}, started ${at(last.started_at)}, finished ${at(last.finished_at)}${took}`]
        : []),
      ...(last?.holder ? [`  runs in ${last.holder}, try ${last.tries}`] : []),
      ...(last?.error ? [`  ${last.error}`] : []),
    ];
  });
  return [`times of ${calendar.zone}, UTC${offset}`, ...lines].join('\n');
}
