import type { Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';

/** Makes a mismatch of several webhooks name the next one, once the named one is processed. */
export async function reassignMismatch(trx: Transaction<Database>, seq: number, webhookSeq: number): Promise<void> {
  await trx.updateTable('mismatches').set({ webhook_seq: webhookSeq }).where('seq', '=', seq).execute();
}
