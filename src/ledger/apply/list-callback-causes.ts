import type { CallbackCause } from '../../callbacks/queue/callback-rows.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { STATUS_UNREADABLE } from '../../domain/statuses.ts';
import { isWithheld } from '../../privacy/withhold-extra.ts';
import type { TransactionChange } from './fold-observations.ts';
import type { HistoryChange } from './write-history-change.ts';

/**
 * Returns the callbacks for a transaction's new events, oldest first. The real event that replaces an inferred one
 * names it: a merchant that was notified of the inferred event gets the correction, not a second payment.
 */
export function listCallbackCauses(
  context: Pick<Context, 'calendar'>,
  change: TransactionChange & { history: HistoryChange },
  known: { seqs: Map<string, number>; extras: Map<string, string> },
): CallbackCause[] {
  const { after, added, history } = change;
  const seq = requireRowNumber(known.seqs.get(after.id), `transaction ${after.id}`);
  const extra = after.extra !== null && isWithheld(after.extra) ? (known.extras.get(after.id) ?? null) : after.extra;
  const transaction = {
    ...{ seq, id: after.id, operation: after.operation, reference: after.reference, platform: after.platform },
    extra,
  };
  const inForce = added.filter((event) => after.events.includes(event) && event.status !== STATUS_UNREADABLE);
  return inForce.map((event) => {
    const origin = change.sources.get(event);
    const isFirst = after.events.find((one) => one.status === event.status) === event;
    const replaced = isFirst
      ? history.inForceChanged.find((one) => one.inferred && one.status === event.status)
      : undefined;
    return {
      transaction,
      event: {
        seq: requireRowNumber(event.seq, `a new event of ${after.id}`),
        status: event.status,
        at: context.calendar.toInstant(event.atWall),
        atWall: event.atWall,
        occurrence: event.occurrence,
        sequence: event.sequence,
      },
      previousStatus: after.events[after.events.indexOf(event) - 1]?.status ?? null,
      source: origin?.kind === 'webhook' ? 'webhook' : 'reconciliation',
      origin,
      ...(replaced?.seq === undefined ? {} : { inPlaceOf: replaced.seq }),
    };
  });
}
