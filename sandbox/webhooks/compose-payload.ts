import { formatCents } from '../domain/money.ts';
import type { Switches } from '../faults/switches.ts';
import type { StoredTransaction } from '../store/tables.ts';

/** A status change that a webhook reports. All other fields of the payload are the transaction's. */
export type StatusChange = { status: string; atWall: string };

/**
 * Returns the JSON body of a webhook. `notificationId` identifies the notification, not the transaction. Public clients of
 * the live service read the flat shape; the other shapes test clients against surprises.
 */
export function composePayload(
  transaction: StoredTransaction,
  change: StatusChange,
  notificationId: number,
  shape: Switches['webhooks']['shape'],
): string {
  if (shape === 'flat') return JSON.stringify(flat(transaction, change, notificationId));
  const body = nested(transaction, change);
  switch (shape) {
    case 'transaction_array':
      return JSON.stringify({ transaction: [body] });
    case 'transaction_object':
      return JSON.stringify({ transaction: body });
    case 'transactions':
      return JSON.stringify({ transactions: [body] });
    case 'data':
      return JSON.stringify({ data: body });
  }
}

function flat(transaction: StoredTransaction, { status, atWall }: StatusChange, id: number): Record<string, unknown> {
  return {
    id,
    transaction_id: transaction.id,
    transaction_amount: formatCents(transaction.amount_cents),
    transaction_e2e_id: transaction.e2e_id,
    transaction_operation: transaction.operation === 'cashin' ? 'in' : 'out',
    transaction_reference: transaction.reference ?? '',
    extra: transaction.extra ?? '',
    date_created: atWall,
    status,
    path: `/api/v1/transaction/${transaction.id}`,
  };
}

function nested(transaction: StoredTransaction, { status }: StatusChange): Record<string, unknown> {
  return {
    id: transaction.id,
    operation: transaction.operation,
    status,
    amount: formatCents(transaction.amount_cents),
    commission: formatCents(transaction.commission_cents),
    date_created: transaction.created_wall,
    platform: transaction.platform,
    reference: transaction.reference ?? '',
    extra: transaction.extra ?? '',
    e2e_id: transaction.e2e_id,
    events: transaction.events,
  };
}
