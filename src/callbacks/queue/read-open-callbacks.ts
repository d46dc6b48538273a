import { type Kysely, sql } from 'kysely';
import type { Database } from '../../database/tables.ts';

export type OpenCallback = {
  seq: number;
  merchant_seq: number;
  transaction_seq: number;
  sequence: number;
  state: string;
  first_failed_at: Date | null;
  lease_holder: string | null;
  next_attempt_at: Date | null;
};

/**
 * Reads the pending and held callbacks of these transactions and merchants. The index is forced: otherwise the optimizer
 * reads everything that is pending for these merchants, which under load is most of the table.
 */
export async function readOpenCallbacks(
  db: Kysely<Database>,
  transactionSeqs: number[],
  merchantSeqs: number[],
): Promise<OpenCallback[]> {
  const { rows } = await sql<OpenCallback>`
    SELECT seq, merchant_seq, transaction_seq, sequence, state, first_failed_at, lease_holder, next_attempt_at
    FROM callbacks FORCE INDEX (callbacks_order)
    WHERE transaction_seq IN (${sql.join(transactionSeqs)}) AND merchant_seq IN (${sql.join(merchantSeqs)})
      AND state IN ('pending', 'held')`.execute(db);
  return rows;
}
