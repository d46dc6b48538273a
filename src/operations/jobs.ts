/** Jobs of the timetable. */
import { z } from 'zod';
import { wrongUse } from '../domain/errors.ts';
import { isJobOn, JOB_NAMES } from '../timetable/list-jobs.ts';
import { presentJob } from '../timetable/present-job.ts';
import { readJobStates } from '../timetable/read-job-states.ts';
import { defineChange } from './define-change.ts';
import { defineItem } from './define-item.ts';
import { ok } from './describe-operation.ts';
import { jobs as jobRows } from './rows/jobs.ts';

export const jobs = defineItem({
  route: '/jobs',
  summary: 'The jobs of the timetable: their last and next ticks',
  item: jobRows,
  read: async (reading) => ({ jobs: (await readJobStates(reading)).map(presentJob) }),
});

export const runOneJob = defineChange({
  name: 'jobs.run',
  roles: ['admin'],
  summary: 'Run a job now, unless it is running',
  input: z.object({ job: z.enum(JOB_NAMES, `must be one of ${JOB_NAMES.join(', ')}`) }),
  answers: ok('Its tick ended', z.object({ outcome: z.string(), job: z.unknown() })),
  // audited first: who calls it runs the tick, which takes as long as the job
  async change({ config }, { job: name }) {
    if (isJobOn(config, name)) return name;
    throw wrongUse(`the job ${name} is off: JOBS and JOB_${name.toUpperCase()} turn it on`);
  },
});
