import type { Context } from '../../context.ts';
import { parseE2eId } from '../../domain/e2e-id.ts';
import { describeStatus } from '../../domain/statuses.ts';
import type { Difference } from './merge-facts.ts';
import type { StoredTransaction } from './stored-transaction.ts';

/**
 * Maximum distance between an end-to-end id's minute and its event, and between an event's time and when it was
 * seen.
 */
const APART_MS_MAX = 12 * 3_600_000;

type Dated = Pick<StoredTransaction, 'e2eId' | 'events'>;

/**
 * Returns the mismatch of an end-to-end id made at another time than its payment, or of an event dated in the
 * future.
 */
export function checkDates(context: Pick<Context, 'calendar' | 'clock'>, stored: Dated): Difference | undefined {
  const apart = checkE2eDate(context, stored);
  const future = listFutureEvents(context, stored);
  if (future.length === 0) return apart;
  const seen = { seen_by: context.clock.now().toISOString() };
  return {
    kind: 'e2e_date_differs',
    expected: { ...seen, ...(apart?.expected ?? {}) },
    actual: { ...(apart?.actual ?? {}), events_to_come: future },
  };
}

/** Returns events dated well after now, which is when they are seen. They are posted all the same. */
function listFutureEvents({ calendar, clock }: Pick<Context, 'calendar' | 'clock'>, { events }: Dated): object[] {
  const untilMs = clock.now().getTime() + APART_MS_MAX;
  return events
    .filter(({ atWall }) => calendar.toInstant(atWall).getTime() > untilMs)
    .map(({ status, atWall }) => ({ status: describeStatus(status), at: calendar.toIso(atWall) }));
}

/** Compares the time in the end-to-end id with that of the payment (for a refund's id: of the refund). */
export function checkE2eDate(context: Pick<Context, 'calendar'>, stored: Dated): Difference | undefined {
  const e2eId = parseE2eId(stored.e2eId);
  const status = e2eId?.of === 'refund' ? 'refund' : 'paid';
  // an inferred event has no time of its own
  const event = stored.events.find((one) => one.status === status && !one.inferred);
  if (!e2eId || !event) return undefined;
  const apart = Math.abs(e2eId.minute.getTime() - context.calendar.toInstant(event.atWall).getTime());
  if (apart <= APART_MS_MAX) return undefined;
  return {
    kind: 'e2e_date_differs',
    expected: { status, at: context.calendar.toIso(event.atWall) },
    actual: { e2e_minute: e2eId.minute.toISOString() },
  };
}
