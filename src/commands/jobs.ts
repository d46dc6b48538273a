import type { Command } from 'commander';
import { WORK } from '../../jobs/main.ts';
import { runTick, type TickOutcome } from '../../jobs/run-tick.ts';
import type { Context } from '../context.ts';
import { jobs, runOneJob } from '../operations/jobs.ts';
import { presentJob } from '../timetable/present-job.ts';
import { readJobStates } from '../timetable/read-job-states.ts';
import { changeCommand, itemCommand } from './operation-commands.ts';

type Ran = { outcome: TickOutcome; job: ReturnType<typeof presentJob> | undefined; said: string };

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
  changeCommand(group, 'run <name>', runOneJob, {
    argument: 'job',
    async follow(_body, { given: { job: name }, context }) {
      const outcome = await runTick(context, { job: name, dueAt: context.clock.now() }, WORK[name]);
      const state = (await readJobStates(context)).find((one) => one.name === name);
      const error = outcome === 'failed' ? ` (${state?.last?.error?.text})` : '';
      return { outcome, job: state && presentJob(state), said: `${name}: ${OUTCOMES[outcome]}${error}` };
    },
    json: ({ outcome, job }) => ({ outcome, job }),
    say: ({ said }: Ran) => said,
    code: ({ outcome }) => (outcome === 'done' ? 0 : 1),
  });
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
