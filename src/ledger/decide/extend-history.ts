/**
 * The events of one transaction as a history: how they are told apart, in which order they stand, and what an
 * observation adds. Pure. Events are told apart by status, time and how many equal ones stood before.
 *
 * The order of the provider's array is the history; times never reorder events. Of two observations the one that was
 * asked later orders the events that it shows. An event that it lacks stands after the one that precedes it in the
 * other, so observations of a growing history end in the order of the longest, whatever was learnt first.
 *
 * A row without a history gives one inferred event. It is dated by the creation, or by the latest event before it: once
 * such an event is known, it gives way to itself at that time. It gives way for good once a real event of its status is
 * known, and is never added after one. One whose status could not be read gives way to any other event.
 */

import type { WallTime } from '../../domain/calendar.ts';
import type { ObservedEvent, ObservedTransaction } from '../../domain/observation.ts';
import { isKnownStatus, STATUS_UNREADABLE, STATUSES } from '../../domain/statuses.ts';

export type StoredEvent = {
  /** The row's number; undefined for one that this decision adds. */
  seq: number | undefined;
  status: string;
  atWall: string;
  occurrence: number;
  /** Its place among the real events, oldest 0; of an inferred one, how far on in a lifecycle its status is. */
  position: number;
  sequence: number;
  /** Whether it stands for a history that the provider left out. */
  inferred: boolean;
};

export type History = {
  /** Those in force, in the order of history. */
  events: StoredEvent[];
  /** Those out of force: inferred ones that gave way, and those that a person agreed are none. */
  outOfForce: StoredEvent[];
  /** When the observation that orders the events was asked; undefined before there is one. */
  orderedAt: Date | undefined;
};

type Shown = Pick<ObservedTransaction, 'events' | 'eventsInferred'>;

type Extended = History & { added: StoredEvent[] };

/**
 * What a history comes to with one more observation. Events that stay as they are stay the same objects.
 * @param known.learnt how many numbers of its sequence the transaction has used up.
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

/** A history with one that was observed whole. */
function addHistory(before: History, shown: ObservedEvent[], askedAt: Date, learnt: number): Extended {
  const known = [...before.events, ...before.outOfForce];
  const history = numberEvents(shown);
  const orders = before.orderedAt === undefined || askedAt >= before.orderedAt;
  const places = mergeOrders(sortReal(known).map(eventKey), history.map(eventKey), orders);
  const isReal = (event: StoredEvent): boolean => places.has(eventKey(event));
  const real = new Set([...history, ...known.filter(isReal)].map((event) => event.status));
  const gone = known.filter(
    (event) => !isReal(event) && (isUnreadable(event) || (event.inferred && real.has(event.status))),
  );
  const added = addReal(history, known, gone, places, learnt);

  const struckBefore = new Set(before.outOfForce.filter((event) => !event.inferred || !isReal(event)));
  const leaves = (event: StoredEvent): boolean => struckBefore.has(event) || gone.includes(event);
  const standing = known.filter((event) => !leaves(event)).map((event) => place(event, places));
  const struck = known.filter((event) => leaves(event) && (isWritten(event) || struckBefore.has(event)));
  return {
    events: sortHistory([...standing, ...added]),
    outOfForce: struck.map((event) => place(event, places)),
    orderedAt: orders ? askedAt : before.orderedAt,
    added: sortHistory(added),
  };
}

/** A history in which each inferred event gave way that stands beside a real one of its status. */
export function supersedeInferred<H extends History>(history: H): H {
  const real = new Set([...history.events, ...history.outOfForce].flatMap((one) => (one.inferred ? [] : [one.status])));
  const gone = history.events.filter((event) => event.inferred && real.has(event.status));
  if (gone.length === 0) return history;
  const events = history.events.filter((event) => !gone.includes(event));
  return { ...history, events, outOfForce: [...history.outOfForce, ...gone] };
}

/**
 * A history whose inferred events are dated by the creation, or by the latest event before them. An event is never
 * changed: one that is dated otherwise gives way to another of its status.
 * @param learnt how many numbers were used up before the observation.
 */
export function dateInferred<H extends Extended>(history: H, createdWall: WallTime, learnt: number): H {
  let latest = createdWall;
  let { outOfForce: struck, added } = history;
  const all = [...history.events, ...struck];
  let last = Math.max(learnt, ...all.map((event) => event.sequence));
  const events = history.events.map((event) => {
    if (event.atWall > latest) latest = event.atWall;
    if (!event.inferred || event.atWall === latest) return event;
    const again = struck.find((one) => one.inferred && one.status === event.status && one.atWall === latest);
    const sequence = isWritten(event) ? last + 1 : event.sequence;
    const dated = again ?? { ...event, seq: undefined, atWall: latest, sequence };
    last = Math.max(last, dated.sequence);
    struck = [...struck.filter((one) => one !== again), ...(isWritten(event) ? [event] : [])];
    added = [...added.filter((one) => one !== event), ...(again ? [] : [dated])];
    return dated;
  });
  return struck === history.outOfForce && added === history.added
    ? history
    : { ...history, events, outOfForce: struck, added };
}

/** A row's status without a history: an event of its own, unless one of that status is known. */
function addInferred(before: History, shown: ObservedEvent[], learnt: number): Extended {
  const known = [...before.events, ...before.outOfForce];
  const news = shown.filter(({ status }) =>
    status === STATUS_UNREADABLE ? known.length === 0 : !known.some((event) => event.status === status),
  );
  const gone = news.length > 0 ? before.events.filter(isUnreadable) : [];
  const numbers = takeNumbers(gone, learnt);
  const added = news.map((event): StoredEvent => {
    const position = stageOf(event.status);
    return { ...event, seq: undefined, occurrence: 0, position, sequence: numbers(event.status), inferred: true };
  });
  const standing = before.events.filter((event) => !gone.includes(event));
  const struck = [...before.outOfForce, ...gone.filter(isWritten)];
  return { events: sortHistory([...standing, ...added]), outOfForce: struck, orderedAt: before.orderedAt, added };
}

function isUnreadable({ inferred, status }: StoredEvent): boolean {
  return inferred && status === STATUS_UNREADABLE;
}

/** One that was never written down leaves nothing behind where it gives way. */
function isWritten({ seq }: StoredEvent): boolean {
  return seq !== undefined;
}

/** Numbers new events. One takes the number of an event that gave way to it and was never written down. */
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

/** The events of a real history that are new. */
function addReal(
  history: NumberedEvent[],
  known: StoredEvent[],
  gone: StoredEvent[],
  places: Map<string, number>,
  learnt: number,
): StoredEvent[] {
  const keys = new Set(known.map(eventKey));
  const numbers = takeNumbers(gone, learnt);
  return history
    .filter((event) => !keys.has(eventKey(event)))
    .map((event): StoredEvent => {
      const position = places.get(eventKey(event)) ?? 0;
      return { ...event, seq: undefined, position, sequence: numbers(event.status), inferred: false };
    });
}

/** An event at its place in the history; an inferred one that a history shows is real from then on. */
function place(event: StoredEvent, places: Map<string, number>): StoredEvent {
  const position = places.get(eventKey(event));
  if (position === undefined || (position === event.position && !event.inferred)) return event;
  return { ...event, position, inferred: false };
}

/**
 * The place of each event of two histories in one. The one that `orders` keeps its order; an event of the other alone
 * stands right after the one that precedes it there, or first.
 */
function mergeOrders(held: string[], shown: string[], orders: boolean): Map<string, number> {
  const [merged, other] = orders ? [[...shown], held] : [[...held], shown];
  const known = new Set(merged);
  for (const [index, key] of other.entries()) {
    if (known.has(key)) continue;
    const previous = other[index - 1];
    merged.splice(previous === undefined ? 0 : merged.indexOf(previous) + 1, 0, key);
    known.add(key);
  }
  return new Map(merged.map((key, index) => [key, index]));
}

type NumberedEvent = ObservedEvent & { occurrence: number };

/** Equal events of a history are told apart by how many stood before. */
export function numberEvents(events: ObservedEvent[]): NumberedEvent[] {
  const counts = new Map<string, number>();
  return events.map((event) => {
    const name = `${event.status} ${event.atWall}`;
    const occurrence = counts.get(name) ?? 0;
    counts.set(name, occurrence + 1);
    return { ...event, occurrence };
  });
}

type Sortable = Pick<StoredEvent, 'status' | 'atWall' | 'position' | 'sequence' | 'inferred'>;

/**
 * History's order: real events by their places. An inferred event has no time of its own: it stands where a lifecycle
 * comes to its status, whatever was learnt first.
 */
export function sortHistory<E extends Sortable>(events: E[]): E[] {
  const history = sortReal(events);
  const inferred = events.filter((event) => event.inferred);
  for (const guess of inferred.sort(compareStages)) {
    const next = history.findIndex((event) => !event.inferred && stageOf(event.status) > stageOf(guess.status));
    history.splice(next < 0 ? history.length : next, 0, guess);
  }
  return history;
}

/** Two at one place are from a version that kept no whole order: those histories stay as they were, ordered by time. */
function sortReal<E extends Sortable>(events: E[]): E[] {
  const real = events.filter((event) => !event.inferred);
  const isOrdered = new Set(real.map((event) => event.position)).size === real.length;
  return real.sort(
    (a, b) => (isOrdered ? 0 : compareText(a.atWall, b.atWall)) || a.position - b.position || a.sequence - b.sequence,
  );
}

const STAGES: Record<string, number> = {
  pending: 0,
  paid: 2,
  denied: 2,
  canceled: 2,
  expired: 2,
  refund: 3,
};

/** How far on in a life a status is; one that is not known is somewhere on its way. */
function stageOf(status: string): number {
  return STAGES[status] ?? 1;
}

/** Two of one stage in an order of their own, so that the order of learning changes nothing. */
function compareStages(a: Sortable, b: Sortable): number {
  const rank = ({ status }: Sortable): number => (isKnownStatus(status) ? STATUSES.indexOf(status) : STATUSES.length);
  return stageOf(a.status) - stageOf(b.status) || rank(a) - rank(b) || compareText(a.status, b.status);
}

export function eventKey(event: { status: string; atWall: string; occurrence: number }): string {
  return `${event.status}\u0000${event.atWall}\u0000${event.occurrence}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
