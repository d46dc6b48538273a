import type { CallbackCause } from '../../callbacks/queue/enqueue-callbacks.ts';
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
  const { after: held, added, history } = change;
  const seq = requireRowNumber(known.seqs.get(held.id), `transaction ${held.id}`);
  const extra = held.extra !== null && isWithheld(held.extra) ? (known.extras.get(held.id) ?? null) : held.extra;
  const transaction = {
    ...{ seq, id: held.id, operation: held.operation, reference: held.reference, platform: held.platform },
    extra,
  };
  const inForce = added.filter((event) => held.events.includes(event) && event.status !== STATUS_UNREADABLE);
  return inForce.map((event) => {
    const isFirst = held.events.find((one) => one.status === event.status) === event;
    const gaveWay = isFirst
      ? history.standingChanged.find((one) => one.inferred && one.status === event.status)
      : undefined;
    return {
      transaction,
      event: {
        seq: requireRowNumber(event.seq, `a new event of ${held.id}`),
        status: event.status,
        at: context.calendar.toInstant(event.atWall),
        atWall: event.atWall,
        occurrence: event.occurrence,
        sequence: event.sequence,
      },
      previousStatus: held.events[held.events.indexOf(event) - 1]?.status ?? null,
      source: change.sources.get(event)?.kind === 'webhook' ? 'webhook' : 'reconciliation',
      ...(gaveWay?.seq === undefined ? {} : { inPlaceOf: gaveWay.seq }),
    };
  });
}
