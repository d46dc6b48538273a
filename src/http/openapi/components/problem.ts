import { z } from 'zod';
import { component } from '../fields.ts';

export const problem = component('Problem', {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  errors: z.record(z.string(), z.array(z.string())).optional().describe('faults by field'),
});
