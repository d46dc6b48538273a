import type { CallbackCause } from '../../callbacks/queue/callback-rows.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { isWithheld } from '../../privacy/withhold-extra.ts';
import type { TransactionChange } from './fold-observations.ts';

/**
 * Returns the callbacks for a transaction's new events, oldest first. An event that replaces inferred ones names them: a merchant
 * that was notified of any gets the correction, not a second payment.
 */
export function listCallbackCauses(
  context: Pick<Context, 'calendar'>,
  change: TransactionChange,
  known: { seqs: Map<string, number>; extras: Map<string, string> },
): CallbackCause[] {
  const { after, added, loaded } = change;
  const seq = requireRowNumber(known.seqs.get(after.id), `transaction ${after.id}`);
  const extra = after.extra !== null && isWithheld(after.extra) ? (known.extras.get(after.id) ?? null) : after.extra;
  const transaction = {
    ...{ seq, id: after.id, operation: after.operation, reference: after.reference, platform: after.platform },
    extra,
  };
  const inForce = added.filter((event) => after.events.includes(event) && event.status !== STATUS_UNREADABLE);
  return inForce.map((event) => {
    const origin = change.sources.get(event);
    // those that hold number 1 before another event takes it are inferred ones
    const known = event.number === 1 && loaded ? [...loaded.stored.events, ...loaded.stored.outOfForce] : [];
    const replaced = known.filter((one) => one.status === event.status).flatMap(({ seq: one }) => one ?? []);
    return {
      transaction,
      event: {
        seq: requireRowNumber(event.seq, `a new event of ${after.id}`),
        status: event.status,
        at: context.calendar.toInstant(event.atWall),
        atWall: event.atWall,
        occurrence: event.occurrence,
        number: event.number,
        sequence: event.sequence,
      },
      previousStatus: after.events[after.events.indexOf(event) - 1]?.status ?? null,
      source: origin?.kind === 'webhook' ? 'webhook' : 'reconciliation',
      origin,
      inPlaceOf: replaced,
    };
  });
}
