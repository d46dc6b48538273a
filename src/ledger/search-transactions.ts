import { createHash } from 'node:crypto';
import { selectTransactions, toLedgerTransaction } from '../database/read-transactions.ts';
import type { Reader } from '../database/reader.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import type { LedgerTransaction } from '../domain/present-transaction.ts';

export type TransactionQuery = {
  id?: string | undefined;
  reference?: string | undefined;
  extra?: string | undefined;
  e2eId?: string | undefined;
  status?: string | undefined;
  operation?: string | undefined;
  platform?: string | undefined;
  /** Days of the provider's calendar, both included. */
  from?: Day | undefined;
  to?: Day | undefined;
  /** Which day they are: of creation, or of the current status. */
  by: 'created' | 'status';
  limit: number;
  /** Where the page before ended. */
  after?: Position | undefined;
};

export type Position = { wall: string; id: string };

/** Transactions that match, the newest first by the wall clock that `by` names; keyset pages, so none is met twice. */
export async function searchTransactions(
  db: Reader,
  query: TransactionQuery,
): Promise<{ transactions: LedgerTransaction[]; next: Position | undefined }> {
  const column = query.by === 'created' ? 'transactions.created_wall' : 'transactions.status_wall';
  let select = selectTransactions(db)
    .orderBy(column, 'desc')
    .orderBy('transactions.id', 'desc')
    .limit(query.limit + 1);
  if (query.id !== undefined) select = select.where('transactions.id', '=', query.id);
  if (query.reference !== undefined) select = select.where('transactions.reference', '=', query.reference);
  if (query.extra !== undefined) {
    select = select.where('transactions.extra_hash', '=', createHash('sha256').update(query.extra).digest());
  }
  if (query.e2eId !== undefined) select = select.where('transactions.e2e_id', '=', query.e2eId);
  if (query.status !== undefined) select = select.where('transactions.status', '=', query.status);
  if (query.operation !== undefined) select = select.where('transactions.operation', '=', query.operation);
  if (query.platform !== undefined) select = select.where('transactions.platform', '=', query.platform);
  if (query.from !== undefined) select = select.where(column, '>=', `${query.from} 00:00:00`);
  if (query.to !== undefined) select = select.where(column, '<', `${addDays(query.to, 1)} 00:00:00`);
  const { after } = query;
  if (after) {
    select = select.where((eb) =>
      eb.or([eb(column, '<', after.wall), eb.and([eb(column, '=', after.wall), eb('transactions.id', '<', after.id)])]),
    );
  }
  const rows = await select.execute();
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  return {
    transactions: shown.map(toLedgerTransaction),
    next: last && { wall: query.by === 'created' ? last.created_wall : last.status_wall, id: last.id },
  };
}
