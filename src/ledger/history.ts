/**
 * The events of one transaction as a history: how they are told apart, in which order they stand, and which of a look's
 * are new. Pure. A history only grows; events are told apart by status, time and how many equal ones stood before.
 */
import type { ObservedEvent, ObservedTransaction } from '../domain/observation.ts';

export type HeldEvent = {
  /** The row's number; undefined for one that this decision adds. */
  seq: number | undefined;
  status: string;
  atWall: string;
  occurrence: number;
  position: number;
  sequence: number;
  inferred: boolean;
};

/** @param learnt how many numbers of its sequence the transaction has used up. */
export function findNewEvents(known: HeldEvent[], transaction: ObservedTransaction, learnt: number): HeldEvent[] {
  const keys = new Set(known.map(eventKey));
  const inferred = known.filter((event) => event.inferred);
  const added: HeldEvent[] = [];
  for (const [position, event] of numberEvents(transaction.events).entries()) {
    if (keys.has(eventKey(event))) continue;
    // a status that came without a history, and the event that later told of it, are one and the same
    if (transaction.eventsInferred && known.some((held) => held.status === event.status)) continue;
    const guess = inferred.findIndex((held) => held.status === event.status);
    if (guess >= 0) {
      inferred.splice(guess, 1);
      continue;
    }
    const sequence = learnt + added.length + 1;
    const place = transaction.eventsInferred ? stageOf(event.status) : position;
    added.push({ ...event, seq: undefined, position: place, sequence, inferred: transaction.eventsInferred });
  }
  return added;
}

/** Equal events of a history are told apart by how many stood before. */
export function numberEvents(events: ObservedEvent[]): (ObservedEvent & { occurrence: number })[] {
  const counts = new Map<string, number>();
  return events.map((event) => {
    const name = `${event.status} ${event.atWall}`;
    const occurrence = counts.get(name) ?? 0;
    counts.set(name, occurrence + 1);
    return { ...event, occurrence };
  });
}

/**
 * History's order: by time; events of one second as the provider ordered them. An inferred event has no time of its
 * own: it stands where a life comes to its status, whatever was learnt first.
 */
export function sortHistory(events: HeldEvent[]): HeldEvent[] {
  const history = events
    .filter((event) => !event.inferred)
    .sort((a, b) => compareText(a.atWall, b.atWall) || a.position - b.position || a.sequence - b.sequence);
  const guesses = events.filter((event) => event.inferred);
  for (const guess of guesses.sort((a, b) => stageOf(a.status) - stageOf(b.status) || a.sequence - b.sequence)) {
    const next = history.findIndex((event) => !event.inferred && stageOf(event.status) > stageOf(guess.status));
    history.splice(next < 0 ? history.length : next, 0, guess);
  }
  return history;
}

const STAGES: Record<string, number> = { pending: 0, paid: 2, denied: 2, canceled: 2, expired: 2, refund: 3 };

/** How far on in a life a status is; one that is not known is somewhere on its way. */
function stageOf(status: string): number {
  return STAGES[status] ?? 1;
}

export function eventKey(event: { status: string; atWall: string; occurrence: number }): string {
  return `${event.status}\u0000${event.atWall}\u0000${event.occurrence}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
