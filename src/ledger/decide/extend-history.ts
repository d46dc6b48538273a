/**
 * Adds an observation to the history of one transaction. Pure. An event is identified by status, time and the number of
 * equal events before it.
 *
 * The order of the provider's array is the history; times never reorder events. The later requested of
 * two observations orders the events that it shows. An event that it lacks follows its predecessor in the other observation. So
 * observations of a growing history end in the order of the longest, in any order of arrival.
 *
 * A row without a history gives one inferred event, dated by the creation or by the latest event before it; when such
 * an event becomes known, the inferred event is replaced by one at that time. A real event of its status replaces it
 * for good, and none is added after one. An inferred event with an unreadable status is replaced by any other event.
 *
 * The number of an event in its status is given once. Inferred events have number 1, and so has a real one that replaces one in force. An
 * inferred event that a person took out of force is replaced by none: the next event of its status is another one.
 */

import type { WallTime } from '../../domain/calendar.ts';
import { InvariantError } from '../../domain/errors.ts';
import { largest } from '../../domain/lists.ts';
import type { ObservedEvent, ObservedTransaction } from '../../domain/observation.ts';
import {
  eventKey,
  type History,
  type NumberedEvent,
  numberEvents,
  type StoredEvent,
  sortHistory,
  sortReal,
  stageOf,
} from '../../domain/sort-history.ts';
import { STATUS_UNREADABLE } from '../../domain/statuses.ts';

type Shown = Pick<ObservedTransaction, 'events' | 'eventsInferred'>;

type Extended = History & { added: StoredEvent[] };

/**
 * Adds one observation to a history. Unchanged events remain the same objects.
 * @param known.learnt how many sequence numbers the transaction has used.
 */
export function extendHistory(
  before: History,
  shown: Shown,
  askedAt: Date,
  known: { createdWall: WallTime; learnt: number },
): Extended {
  const extended = shown.eventsInferred
    ? addInferred(before, shown.events, known.learnt)
    : addHistory(before, shown.events, askedAt, known.learnt);
  return dateInferred(extended, known.createdWall, known.learnt);
}

/** Adds an observation that shows a history. */
function addHistory(before: History, shown: ObservedEvent[], askedAt: Date, learnt: number): Extended {
  const known = [...before.events, ...before.outOfForce];
  const history = numberEvents(shown, known);
  const orders = before.orderedAt === undefined || askedAt >= before.orderedAt;
  const positions = mergeOrders(sortReal(known).map(eventKey), history.map(eventKey), orders);
  const isReal = (event: StoredEvent): boolean => positions.has(eventKey(event));
  const real = new Set([...history, ...known.filter(isReal)].map((event) => event.status));
  const gone = known.filter(
    (event) => !isReal(event) && (isUnreadable(event) || (event.inferred && real.has(event.status))),
  );
  const numbers = numberStatuses(
    known,
    before.events.filter((event) => gone.includes(event)),
  );
  const added = addReal(history, { known, gone, positions, learnt, numbers });

  const outOfForceBefore = new Set(before.outOfForce.filter((event) => !event.inferred || !isReal(event)));
  const leaves = (event: StoredEvent): boolean => outOfForceBefore.has(event) || gone.includes(event);
  const inForce = known.filter((event) => !leaves(event)).map((event) => reposition(event, positions));
  const outOfForce = known.filter((event) => leaves(event) && (isWritten(event) || outOfForceBefore.has(event)));
  return {
    events: sortHistory([...inForce, ...added]),
    outOfForce: outOfForce.map((event) => reposition(event, positions)),
    orderedAt: orders ? askedAt : before.orderedAt,
    added: sortHistory(added),
  };
}

/**
 * Dates inferred events by the creation, or by the latest real event before them: a date that was inferred earlier can be
 * too late once a history shows an event between. Events are immutable: another date means that an event of the same
 * status replaces the old one.
 * @param learnt how many sequence numbers were used before the observation.
 */
function dateInferred(history: Extended, createdWall: WallTime, learnt: number): Extended {
  let latest = createdWall;
  let { outOfForce, added } = history;
  const all = [...history.events, ...outOfForce];
  let last = Math.max(learnt, largest(all.map((event) => event.sequence)));
  const events = history.events.map((event) => {
    if (!event.inferred && event.atWall > latest) latest = event.atWall;
    if (!event.inferred || event.atWall === latest) return event;
    const again = outOfForce.find((one) => one.inferred && one.status === event.status && one.atWall === latest);
    const sequence = isWritten(event) ? last + 1 : event.sequence;
    // a version that gave no numbers learnt it: what replaces it has the number of inferred events all the same
    const number = event.number ?? 1;
    const dated = again ?? { ...event, seq: undefined, atWall: latest, sequence, number };
    last = Math.max(last, dated.sequence);
    outOfForce = [...outOfForce.filter((one) => one !== again), ...(isWritten(event) ? [event] : [])];
    added = [...added.filter((one) => one !== event), ...(again ? [] : [dated])];
    return dated;
  });
  return outOfForce === history.outOfForce && added === history.added
    ? history
    : { ...history, events, outOfForce, added };
}

/** Adds the status of a row without a history as an event, unless an event of that status is known. */
function addInferred(before: History, shown: ObservedEvent[], learnt: number): Extended {
  const known = [...before.events, ...before.outOfForce];
  const newEvents = shown.filter(({ status }) =>
    status === STATUS_UNREADABLE ? known.length === 0 : !known.some((event) => event.status === status),
  );
  const gone = newEvents.length > 0 ? before.events.filter(isUnreadable) : [];
  const numbers = takeNumbers(gone, learnt);
  const added = newEvents.map((event): StoredEvent => {
    const position = stageOf(event.status);
    const sequence = numbers(event.status);
    return { ...event, seq: undefined, occurrence: 0, position, sequence, inferred: true, number: 1 };
  });
  const inForce = before.events.filter((event) => !gone.includes(event));
  const outOfForce = [...before.outOfForce, ...gone.filter(isWritten)];
  return { events: sortHistory([...inForce, ...added]), outOfForce, orderedAt: before.orderedAt, added };
}

function isUnreadable({ inferred, status }: StoredEvent): boolean {
  return inferred && status === STATUS_UNREADABLE;
}

/** An event that was never written is dropped when it is replaced, and not kept out of force. */
function isWritten({ seq }: StoredEvent): boolean {
  return seq !== undefined;
}

/** Numbers new events. A new event reuses the number of an unwritten event that it replaces. */
function takeNumbers(gone: StoredEvent[], learnt: number): (status: string) => number {
  const freed = new Map(gone.filter((event) => !isWritten(event)).map((event) => [event.status, event.sequence]));
  let last = learnt;
  return (status) => {
    const name = freed.has(status) ? status : STATUS_UNREADABLE;
    const sequence = freed.get(name) ?? ++last;
    freed.delete(name);
    return sequence;
  };
}

/** Numbers new real events in their status: the first takes the number of the inferred one in force that it replaces. */
function numberStatuses(known: StoredEvent[], replaced: StoredEvent[]): (status: string) => number {
  const freed = new Map(replaced.map((event) => [event.status, event.number ?? 1]));
  const last = new Map<string, number>();
  for (const [status, events] of Map.groupBy(known, (event) => event.status)) {
    const stored = events.map((event) => event.number ?? (event.inferred ? 1 : 0));
    last.set(status, Math.max(largest(stored), events.filter((event) => !event.inferred).length));
  }
  return (status) => {
    const number = freed.get(status) ?? (last.get(status) ?? 0) + 1;
    if (!freed.delete(status)) last.set(status, number);
    return number;
  };
}

/** Returns the new events of a real history. */
function addReal(
  history: NumberedEvent[],
  given: {
    known: StoredEvent[];
    gone: StoredEvent[];
    positions: Map<string, number>;
    learnt: number;
    numbers: (status: string) => number;
  },
): StoredEvent[] {
  const { known, gone, positions, learnt, numbers } = given;
  const keys = new Set(known.map(eventKey));
  const sequences = takeNumbers(gone, learnt);
  return history
    .filter((event) => !keys.has(eventKey(event)))
    .map((event): StoredEvent => {
      const position = positions.get(eventKey(event));
      if (position === undefined) throw new InvariantError('an event of a history has no position in it');
      const [sequence, number] = [sequences(event.status), numbers(event.status)];
      return { ...event, seq: undefined, position, sequence, inferred: false, number };
    });
}

/** Moves an event to its position in the history; an inferred event that a history shows becomes real. */
function reposition(event: StoredEvent, positions: Map<string, number>): StoredEvent {
  const position = positions.get(eventKey(event));
  if (position === undefined || (position === event.position && !event.inferred)) return event;
  return { ...event, position, inferred: false };
}

/**
 * Merges two orders of event keys into positions. The newer observation (`orders`: it is `shown`) keeps its order; a
 * key that only the other has follows its predecessor there, or comes first.
 */
function mergeOrders(stored: string[], shown: string[], orders: boolean): Map<string, number> {
  const [merged, other] = orders ? [[...shown], stored] : [[...stored], shown];
  const known = new Set(merged);
  for (const [index, key] of other.entries()) {
    if (known.has(key)) continue;
    const previous = other[index - 1];
    merged.splice(previous === undefined ? 0 : merged.indexOf(previous) + 1, 0, key);
    known.add(key);
  }
  return new Map(merged.map((key, index) => [key, index]));
}
