import type { Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';

/** Lets a mismatch that stands for several webhooks name the next of them, once the one it named is done. */
export async function reassignMismatch(trx: Transaction<Database>, seq: number, webhookSeq: number): Promise<void> {
  await trx.updateTable('mismatches').set({ webhook_seq: webhookSeq }).where('seq', '=', seq).execute();
}
