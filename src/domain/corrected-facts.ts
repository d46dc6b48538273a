import type { Operation } from './statuses.ts';

/** Facts that a correction may change, as merchants get them before and after it. Amounts are decimal texts. */
export type CorrectedFacts = {
  operation: Operation;
  status: string;
  /** ISO 8601 with offset. */
  status_at: string;
  amount: string;
  commission: string | null;
  reference: string | null;
  platform: string | null;
};
