import type { LedgerTransaction } from '../../domain/present-transaction.ts';
import type { Operation } from '../../domain/statuses.ts';
import type { Reader } from '../reader.ts';

/** Transactions with their personal fields, ready to be narrowed by `where`, ordered and limited. */
export function selectTransactions(db: Reader) {
  return db
    .selectFrom('transactions')
    .leftJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select([
      'transactions.seq',
      'transactions.id',
      'transactions.operation',
      'transactions.status',
      'transactions.status_wall',
      'transactions.sequence',
      'transactions.amount_cents',
      'transactions.commission_cents',
      'transactions.reference',
      'transactions.extra',
      'transactions.platform',
      'transactions.e2e_id',
      'transactions.created_wall',
      'parties.name',
      'parties.email',
      'parties.phone',
      'parties.document',
      'parties.pix_key',
      'parties.description',
      'parties.forgotten_at',
    ]);
}

export type TransactionRow = Awaited<ReturnType<ReturnType<typeof selectTransactions>['execute']>>[number];

export function toLedgerTransaction(row: TransactionRow): LedgerTransaction {
  return {
    id: row.id,
    operation: row.operation as Operation,
    status: row.status,
    statusWall: row.status_wall,
    sequence: row.sequence,
    amountCents: row.amount_cents,
    commissionCents: row.commission_cents,
    reference: row.reference,
    extra: row.extra,
    platform: row.platform,
    e2eId: row.e2e_id,
    createdWall: row.created_wall,
    name: row.name,
    email: row.email,
    phone: row.phone,
    document: row.document,
    pixKey: row.pix_key,
    description: row.description,
    forgotten: row.forgotten_at !== null,
  };
}
