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
/** A status as the provider gave it: one of the eight, or another, kept verbatim. */
export type Status = string;

/**
 * Stands for the status of a row that has neither a status nor a history that can be read. It moves no money, merchants
 * hear nothing of it, and it gives way to any status that is learnt.
 */
export const STATUS_UNREADABLE = 'unreadable';

const FINAL: readonly string[] = ['paid', 'denied', 'canceled', 'expired', 'refund'];

export function isKnownStatus(status: Status): status is KnownStatus {
  return (STATUSES as readonly string[]).includes(status);
}

const PLAIN_STATUS = /^[a-z_]{1,32}$/;

/** A status as it may stand in an alert: what is no plain word may be anybody's text, and is told by its hash. */
export function describeStatus(status: Status): string {
  return PLAIN_STATUS.test(status)
    ? status
    : `sha256:${createHash('sha256').update(status).digest('hex').slice(0, 32)}`;
}

export function isFinal(status: Status): boolean {
  return FINAL.includes(status);
}

/** A history may leave a final status only from paid to refund. */
export function isIllegalTransition(from: Status, to: Status): boolean {
  return isFinal(from) && from !== to && !(from === 'paid' && to === 'refund');
}
