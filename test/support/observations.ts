import type { Observation, Source } from '../../src/domain/observation.ts';
import { readTransaction } from '../../src/provider/read-transaction.ts';

/** A transaction as the provider shows it; its history is the newest first. */
export type ShownTransaction = {
  id: string;
  operation: 'cashin' | 'cashout';
  status: string;
  amount: string;
  commission?: string;
  date_created: string;
  events: { status: string; date_created: string }[];
} & Partial<
  Record<
    'reference' | 'extra' | 'platform' | 'e2e_id' | 'name' | 'email' | 'phone' | 'document' | 'description' | 'pix_key',
    string
  >
>;

/** A look at a transaction, read from what the provider shows as the program reads it. */
export function observe(shown: ShownTransaction, askedAt: Date, source: Source = { kind: 'show' }): Observation {
  const read = readTransaction(shown);
  if (!read.ok) throw new Error(`this row can't be read: ${read.reason}`);
  return { transaction: read.transaction, digest: read.digest, askedAt, source };
}
