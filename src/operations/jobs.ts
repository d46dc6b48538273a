/** Jobs of the timetable. */
import { presentJob } from '../timetable/present-job.ts';
import { readJobStates } from '../timetable/read-job-states.ts';
import { defineItem } from './define-item.ts';
import { jobs as jobRows } from './rows/jobs.ts';

export const jobs = defineItem({
  route: '/jobs',
  summary: 'The jobs of the timetable: their last and next ticks',
  item: jobRows,
  read: async (reading) => ({ jobs: (await readJobStates(reading)).map(presentJob) }),
});
