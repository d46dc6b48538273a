import { z } from 'zod';
import { components } from '../fields.ts';

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    errors: z.record(z.string(), z.array(z.string())).optional().describe('faults by field'),
  })
  .register(components, { id: 'Problem' });
