import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { sortHistory } from '../../domain/sort-history.ts';
import { readEventPositions } from '../../ledger/apply/read-event-positions.ts';

export type HistoryEvent = {
  seq: number;
  transaction_seq: number;
  status: string;
  at_wall: WallTime;
  position: number;
  sequence: number;
  inferred: number;
};

/**
 * Groups events by transaction, each history oldest first in its order at a cut.
 * @param factChangeSeq the newest change of facts at the cut.
 */
export async function orderHistories<E extends HistoryEvent>(
  db: Reader,
  events: E[],
  factChangeSeq: number,
): Promise<Map<number, E[]>> {
  const groups = Map.groupBy(events, (event) => event.transaction_seq);
  const positions = await readEventPositions(db, [...groups.keys()], factChangeSeq);
  const order = (history: E[]): E[] =>
    sortHistory(
      history.map((event) => ({
        event,
        status: event.status,
        atWall: event.at_wall,
        position: positions.get(event.seq) ?? event.position,
        sequence: event.sequence,
        inferred: event.inferred === 1 && !positions.has(event.seq),
      })),
    ).map(({ event }) => event);
  return new Map([...groups].map(([seq, history]) => [seq, order(history)]));
}
