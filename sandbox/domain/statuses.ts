/**
 * The life of a transaction, told once. It starts `pending`; it may wait `in_process` or `in_analysis`; it ends
 * `paid`, `denied`, `canceled` or `expired`; what was paid may still be given back (`refund`). The specification
 * does not show transitions, so only the checkout and planned lives keep to these: an admin may write any history.
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

/** True where a transaction may still end. */
export function isOpen(status: string): boolean {
  return OPEN.includes(status);
}

/** True where the model allows `to` after `from`. */
export function isTransitionAllowed(from: string, to: string): boolean {
  if (from === to) return false;
  if (isOpen(from)) return to !== 'pending' && to !== 'refund';
  return from === 'paid' && to === 'refund';
}
