import { z } from 'zod';
import { component } from '../fields.ts';
import { refusal } from './months.ts';

export const problem = component('Problem', {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  refusals: z.array(refusal).optional().describe('of a month that is not closed or reopened: every reason'),
  errors: z.record(z.string(), z.array(z.string())).optional().describe('faults by field'),
});
