import { z } from 'zod';
import { REASONS } from '../../texts/refuse.ts';
import { refusal } from './months.ts';
import { component } from './row-fields.ts';

/** Each reason on a line, with its text. */
function describeReasons(): string {
  const lines = [...REASONS].map(([reason, text]) => `- \`${reason}\`: ${text}`);
  return `what refused, as a stable name; more may come. A failure without a name of its own has that of its status.\n${lines.join('\n')}`;
}

export const problem = component('Problem', {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  reason: z.string().describe(describeReasons()),
  detail: z.string().optional(),
  refusals: z.array(refusal).optional().describe('of a month that is not closed or reopened: every reason'),
  errors: z.record(z.string(), z.array(z.string())).optional().describe('faults by field'),
});
