import {
  ADJUSTMENT_COLUMNS,
  CHANGE_COLUMNS,
  MISMATCH_COLUMNS,
  PAYMENT_COLUMNS,
  PENDING_COLUMNS,
  RECEIPT_COLUMNS,
  REFUND_COLUMNS,
  STATEMENT_COLUMNS,
} from './columns.ts';
import { RECEIVABLE_COLUMNS, UNIDENTIFIED_COLUMNS } from './order-columns.ts';

/** The columns of each table. */
export const TABLE_COLUMNS = {
  statement: STATEMENT_COLUMNS,
  receipts: RECEIPT_COLUMNS,
  payments: PAYMENT_COLUMNS,
  refunds: REFUND_COLUMNS,
  pending: PENDING_COLUMNS,
  receivable: RECEIVABLE_COLUMNS,
  unidentified: UNIDENTIFIED_COLUMNS,
  mismatches: MISMATCH_COLUMNS,
  changes: CHANGE_COLUMNS,
  adjustments: ADJUSTMENT_COLUMNS,
} as const;
