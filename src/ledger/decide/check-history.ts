import type { StoredEvent } from '../../domain/sort-history.ts';
import { describeStatus, isIllegalTransition, isKnownStatus, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import type { Difference } from './merge-facts.ts';

/**
 * Returns anomalies of a history in itself, and of the row's own status. Pure.
 * @param own the row's own status; undefined where a later observation has shown another since.
 */
export function checkHistory(events: StoredEvent[], own: string | undefined): Difference[] {
  const found: Difference[] = [];
  const unknown = [events.at(-1)?.status, own].find(isUnknown);
  if (unknown !== undefined)
    found.push({ kind: 'unknown_status', expected: null, actual: { status: describeStatus(unknown) } });
  const leaves = events.findIndex((event, index) => {
    const next = events[index + 1];
    return next !== undefined && isIllegalTransition(event.status, next.status);
  });
  if (leaves >= 0 || refundsUnpaid(events)) {
    const history = events.map((event) => ({ status: describeStatus(event.status), at: event.atWall }));
    found.push({ kind: 'illegal_transition', expected: null, actual: { history } });
  }
  return found;
}

/** Whether a refund precedes any payment. An inferred refund does not count: the payment may have been left out. */
function refundsUnpaid(events: StoredEvent[]): boolean {
  const refund = events.findIndex((event) => event.status === 'refund');
  return refund >= 0 && !events.slice(0, refund).some(({ status }) => status === 'paid') && !events[refund]?.inferred;
}

/** An unreadable status is reported as `field_unreadable` instead. */
function isUnknown(status: string | undefined): boolean {
  return status !== undefined && status !== STATUS_UNREADABLE && !isKnownStatus(status);
}
