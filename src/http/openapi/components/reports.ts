import { z } from 'zod';
import { component, day, instant } from '../fields.ts';

export const report = component('Report', {
  day,
  revision: z.int(),
  state: z
    .enum(['partial', 'provisional', 'closed'])
    .describe('in lists, the newest revision of a day shows the current state, which the next revision will store'),
  made_at: instant,
  proven: z.boolean().describe('likewise: whether a run has read the whole day after its end'),
  digest: z.string(),
  sha256: z.string().describe('of the workbook'),
  files: z.array(
    z.object({ format: z.enum(['xlsx', 'csv', 'journal']), name: z.string(), bytes: z.int(), sha256: z.string() }),
  ),
  position: z.int().nullable().describe('the position of the journal’s hash chain that it is cut at'),
  chain_hash: z.string().nullable().describe('the chain’s SHA-256 there'),
  redacted: z.boolean().describe('a person in it was forgotten since: its files are made again, and say *removido*'),
});
