/** The stored events of a transaction: their identity (`eventKey`) and their order. Pure. */
import { compareText } from './lists.ts';
import type { ObservedEvent } from './observation.ts';
import { isKnownStatus, STATUSES } from './statuses.ts';

export type StoredEvent = {
  /** The row number; undefined for an event that this decision adds. */
  seq: number | undefined;
  status: string;
  atWall: string;
  occurrence: number;
  /** Position among the real events, oldest 0; for an inferred event, the stage of its status in a lifecycle. */
  position: number;
  sequence: number;
  /** Whether it stands for a history that the provider left out. */
  inferred: boolean;
  /**
   * Which time its status comes, in the order of learning, from 1: merchants know the event by it. An inferred event and all that
   * replaces it have one number. Null: learnt by a version that gave none.
   */
  number: number | null;
};

export type History = {
  /** Events in force, in the order of the history. */
  events: StoredEvent[];
  /** Events out of force: replaced inferred events, and those that a person's correction removed. */
  outOfForce: StoredEvent[];
  /** When the observation that orders the events was requested; undefined before there is one. */
  orderedAt: Date | undefined;
};

type Sortable = Pick<StoredEvent, 'status' | 'atWall' | 'position' | 'sequence' | 'inferred'>;

/**
 * Sorts a history: real events by position. An inferred event has no time of its own and is placed by the lifecycle
 * stage of its status, so the order of arrival does not matter.
 */
export function sortHistory<E extends Sortable>(events: E[]): E[] {
  const history = sortReal(events);
  const inferred = events.filter((event) => event.inferred);
  for (const event of inferred.sort(compareStages)) {
    const next = history.findIndex((one) => !one.inferred && stageOf(one.status) > stageOf(event.status));
    history.splice(next < 0 ? history.length : next, 0, event);
  }
  return history;
}

/** Equal positions come from a version that stored no complete order: such histories stay ordered by time. */
export function sortReal<E extends Sortable>(events: E[]): E[] {
  const real = events.filter((event) => !event.inferred);
  const isOrdered = new Set(real.map((event) => event.position)).size === real.length;
  return real.sort(
    (a, b) => (isOrdered ? 0 : compareText(a.atWall, b.atWall)) || a.position - b.position || a.sequence - b.sequence,
  );
}

/** A Map: a status is any text of the provider, and an object has `constructor` and others from its prototype. */
const STAGES = new Map([
  ['pending', 0],
  ['paid', 2],
  ['denied', 2],
  ['canceled', 2],
  ['expired', 2],
  ['refund', 3],
]);

/** The lifecycle stage of a status; an unknown status is an intermediate one. */
export function stageOf(status: string): number {
  return STAGES.get(status) ?? 1;
}

/** Orders inferred events of one stage by status, so the order of arrival does not matter. */
function compareStages(a: Sortable, b: Sortable): number {
  const rank = ({ status }: Sortable): number => (isKnownStatus(status) ? STATUSES.indexOf(status) : STATUSES.length);
  return stageOf(a.status) - stageOf(b.status) || rank(a) - rank(b) || compareText(a.status, b.status);
}

export type NumberedEvent = ObservedEvent & { occurrence: number };

/**
 * Adds to each event of a shown history the number of equal events before it.
 * @param known all stored events, those in force first. Of the inferred ones, a history shows one of each status at most, and none
 *   where a real one of the status is known: any other at the time of a shown event is an equal event before it.
 */
export function numberEvents(events: ObservedEvent[], known: StoredEvent[]): NumberedEvent[] {
  const nameOf = ({ status, atWall }: { status: string; atWall: string }): string => `${status} ${atWall}`;
  const names = new Set(events.map(nameOf));
  const shown = new Map(known.filter((event) => !event.inferred).map((event) => [event.status, event]));
  for (const event of known) if (!shown.has(event.status) && names.has(nameOf(event))) shown.set(event.status, event);
  const replaced = known.filter((event) => event.inferred && shown.get(event.status) !== event);
  const counts = new Map(replaced.map((event) => [nameOf(event), 1]));
  return events.map((event) => {
    const occurrence = counts.get(nameOf(event)) ?? 0;
    counts.set(nameOf(event), occurrence + 1);
    return { ...event, occurrence };
  });
}

export function eventKey(event: { status: string; atWall: string; occurrence: number }): string {
  return `${event.status}\u0000${event.atWall}\u0000${event.occurrence}`;
}
