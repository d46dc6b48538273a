import type { Context } from '../context.ts';
import { readE2eId } from '../domain/e2e-id.ts';
import type { Difference, HeldTransaction } from './decide.ts';

/** How far the minute that an end-to-end id names may be from the event that it was made for. */
const APART_MS_MAX = 12 * 3_600_000;

/** Whether the end-to-end id was made at another time than the payment (or, of a refund's id, the refund). */
export function judgeE2eDate(
  context: Pick<Context, 'calendar'>,
  held: Pick<HeldTransaction, 'e2eId' | 'events'>,
): Difference | undefined {
  const said = readE2eId(held.e2eId);
  const status = said?.of === 'refund' ? 'refund' : 'paid';
  // an event that stands for a history that was left out has no time of its own
  const event = held.events.find((one) => one.status === status && !one.inferred);
  if (!said || !event) return undefined;
  const apart = Math.abs(said.minute.getTime() - context.calendar.toInstant(event.atWall).getTime());
  if (apart <= APART_MS_MAX) return undefined;
  return {
    kind: 'e2e_date_differs',
    expected: { status, at: context.calendar.toIso(event.atWall) },
    actual: { e2e_minute: said.minute.toISOString() },
  };
}
