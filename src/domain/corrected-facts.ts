import type { Operation } from './statuses.ts';

/** What a correction may change, as merchants are told of it before and after. Amounts are decimal texts. */
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
