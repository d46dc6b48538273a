import { describeStatus, isIllegalTransition, isKnownStatus, STATUS_UNREADABLE } from '../../domain/statuses.ts';
import type { Difference } from './difference.ts';
import type { StoredEvent } from './extend-history.ts';

/**
 * What is odd about a history by itself, and about the row's own status. Pure.
 * @param own the row's own status; undefined where a later look has shown another since.
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

/** What was never paid can't be given back; where a history was left out, it may have been. */
function refundsUnpaid(events: StoredEvent[]): boolean {
  const refund = events.findIndex((event) => event.status === 'refund');
  return refund >= 0 && !events.slice(0, refund).some(({ status }) => status === 'paid') && !events[refund]?.inferred;
}

/** One that can't be read is told as `field_unreadable`. */
function isUnknown(status: string | undefined): boolean {
  return status !== undefined && status !== STATUS_UNREADABLE && !isKnownStatus(status);
}
