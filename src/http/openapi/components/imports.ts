import { z } from 'zod';
import { component, instant } from '../fields.ts';

const kind = z.string().describe('statements, adjustments, accounts, platforms or bank');
const sha256 = z.string().describe('of the file');
const rows = z.int().describe('of the file');
const changed = z.int().describe('rows that changed something');

export const fileImport = component('Import', {
  id: z.string(),
  kind,
  sha256,
  rows,
  changed,
  created_at: instant,
  created_by: z.string(),
});

export const importOutcome = component('ImportOutcome', {
  kind,
  sha256,
  rows,
  changed,
  repeats: z
    .object({ id: z.string(), at: instant, by: z.string() })
    .nullable()
    .describe('the import of the same file before: nothing is imported again'),
  already_booked: z
    .array(z.object({ row: z.int(), id: z.string(), created_at: instant, created_by: z.string() }))
    .describe(
      'with allow_equal: rows that equal an adjustment in force (platform, day, amount) or a statement (platform, instant, balance)',
    ),
  dry_run: z.boolean(),
});
