/**
 * The lifecycle of a transaction. It starts `pending`, may wait `in_process` or `in_analysis`, and ends `paid`, `denied`,
 * `canceled` or `expired`. A paid transaction may become `refund`. The specification shows no transitions, so only the
 * checkout and planned steps follow this model: an admin may write any history.
 */
export const STATUSES = [
  'pending',
  'paid',
  'denied',
  'canceled',
  'refund',
  'in_process',
  'in_analysis',
  'expired',
] as const;

export const OPERATIONS = ['cashin', 'cashout'] as const;
export type Operation = (typeof OPERATIONS)[number];

const OPEN = ['pending', 'in_process', 'in_analysis', 'partially_paid'];

/** Returns whether a transaction in this status has not ended. */
export function isOpen(status: string): boolean {
  return OPEN.includes(status);
}

/** Returns whether the model allows `to` after `from`. */
export function isTransitionAllowed(from: string, to: string): boolean {
  if (from === to) return false;
  if (isOpen(from)) return to !== 'pending' && to !== 'refund';
  return from === 'paid' && to === 'refund';
}
