import { sql, type Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';

export type LockedTransaction = { seq: number; id: string; amount_cents: bigint; asked_at: Date };

/**
 * Locks the stored transactions of these ids, in the order of the ids, which all writers share. A transaction that raises or resolves
 * a mismatch on what it reads of a payment locks this first, and reads then: an applier that brings the evidence was
 * committed before, and is read, or comes after, and finds the mismatch. FORCE INDEX: otherwise the server may scan a
 * small table and wait for every row that an applier is writing.
 * @returns those that the ledger holds, by id.
 */
export async function lockTransactions(
  trx: Transaction<Database>,
  ids: string[],
): Promise<Map<string, LockedTransaction>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<LockedTransaction>`
    SELECT seq, id, amount_cents, asked_at FROM transactions FORCE INDEX (transactions_id)
    WHERE id IN (${sql.join([...new Set(ids)])}) ORDER BY id FOR UPDATE`.execute(trx);
  return new Map(rows.map((row) => [row.id, row]));
}
