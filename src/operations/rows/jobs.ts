import { z } from 'zod';
import { JOB_NAMES } from '../../timetable/list-jobs.ts';
import { components, instant, nullableInstant, nullableText } from './row-fields.ts';

const tick = z.object({
  due_at: instant,
  started_at: nullableInstant.describe('of the last try'),
  finished_at: nullableInstant,
  outcome: z.enum(['running', 'done', 'failed']),
  error: nullableText,
  duration_s: z.number().nullable().describe('of the last try'),
  tries: z.int(),
  holder: nullableText.describe('the process that runs it'),
});

const job = z
  .object({
    name: z.enum(JOB_NAMES),
    cron: z.string().describe("a cron expression in the provider's time zone, or off"),
    last: tick.nullable().describe('null before the first one'),
    last_success_at: nullableInstant,
    next_at: nullableInstant,
    overdue: z.boolean().describe('a tick did not start in time, or takes too long'),
    failing: z.boolean().describe('its last tick failed; three in a row of a job that runs every few minutes'),
  })
  .register(components, { id: 'Job' });

export const jobs = z.object({ jobs: z.array(job) });
