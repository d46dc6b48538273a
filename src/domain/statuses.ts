import { createHash } from 'node:crypto';

export const OPERATIONS = ['cashin', 'cashout'] as const;
export type Operation = (typeof OPERATIONS)[number];

export const STATUSES = [
  'pending',
  'in_process',
  'in_analysis',
  'paid',
  'denied',
  'canceled',
  'expired',
  'refund',
] as const;
export type KnownStatus = (typeof STATUSES)[number];
/** A status as the provider sent it: one of the eight, or another one, stored verbatim. */
export type Status = string;

/**
 * Status of a row without a readable status or history. It moves no money, causes no callback, and is replaced by any
 * status that is learnt later.
 */
export const STATUS_UNREADABLE = 'unreadable';

export const FINAL_STATUSES: readonly string[] = ['paid', 'denied', 'canceled', 'expired', 'refund'];

export function isKnownStatus(status: Status): status is KnownStatus {
  return (STATUSES as readonly string[]).includes(status);
}

const PLAIN_STATUS = /^[a-z_]{1,32}$/;

/** A status for use in an alert. If it is no plain word, it may be free text, so its hash is shown. */
export function describeStatus(status: Status): string {
  return PLAIN_STATUS.test(status)
    ? status
    : `sha256:${createHash('sha256').update(status).digest('hex').slice(0, 32)}`;
}

export function isFinal(status: Status): boolean {
  return FINAL_STATUSES.includes(status);
}

/** Whether a history leaves a final status, other than from paid to refund. */
export function isIllegalTransition(from: Status, to: Status): boolean {
  return isFinal(from) && from !== to && !(from === 'paid' && to === 'refund');
}
