/**
 * Replays how the ledger learnt the history of one transaction: the callbacks that each step caused, in the order of
 * their sequence numbers. Pure. A merchant that is added later so receives the same messages as one that was there:
 * also an event that a correction later replaced, and then the correction.
 */

import type { Calendar } from '../../../domain/calendar.ts';
import { append } from '../../../domain/lists.ts';
import { type StoredEvent, sortHistory } from '../../../domain/sort-history.ts';
import { STATUS_UNREADABLE } from '../../../domain/statuses.ts';
import type { CallbackCause, CorrectionCause, TransactionFacts } from '../callback-rows.ts';

export type LearntEvent = StoredEvent & { seq: number; seenAt: Date; source: CallbackCause['source'] };

/**
 * `changes`: which events it took out of force, or put back. `byPerson`: a person accepted the provider's version. `contentHash`: null
 * where a version made it that stored none.
 */
export type LearntCorrection = {
  sequence: number;
  at: Date;
  byPerson: boolean;
  contentHash: Buffer | null;
  changes: { eventSeq: number; inForce: boolean }[];
};

export type LearntHistory = {
  transaction: TransactionFacts & { seq: number };
  /** In the order of their sequence numbers, as the corrections. */
  events: LearntEvent[];
  corrections: LearntCorrection[];
  /** Oldest first: the facts before each change, and the positions of events from a time on. */
  factChanges: { name: string; before: string | null; at: Date }[];
  positions: { eventSeq: number; position: number; at: Date }[];
};

/** `message`: the same for an inferred event and all that replace it: a merchant receives one of them. */
export type LearntCause = { sequence: number; learntAt: Date } & (
  | { event: CallbackCause; message: string; correction?: undefined }
  | { correction: CorrectionCause; event?: undefined; message?: undefined }
);

type Step = { at: Date; events: LearntEvent[]; correction: LearntCorrection | undefined };

/** @returns the causes of callbacks, the oldest first. */
export function replayHistory(calendar: Pick<Calendar, 'toInstant'>, learnt: LearntHistory): LearntCause[] {
  const causes: LearntCause[] = [];
  const outOfForce = new Set<number>();
  const known: LearntEvent[] = [];
  let before: LearntEvent[] = [];
  for (const step of listSteps(learnt)) {
    for (const { eventSeq, inForce } of step.correction?.changes ?? []) {
      if (inForce) outOfForce.delete(eventSeq);
      else outOfForce.add(eventSeq);
    }
    append(known, step.events);
    const inForce = known.filter((event) => !outOfForce.has(event.seq));
    const after = sortHistory(positionAt(inForce, learnt, step.at));
    const facts = factsAt(learnt, step.at);
    for (const event of step.events) {
      const index = after.findIndex((one) => one.seq === event.seq);
      if (index < 0 || event.status === STATUS_UNREADABLE) continue;
      const cause: CallbackCause = {
        transaction: { ...facts, seq: learnt.transaction.seq },
        event: { ...event, at: calendar.toInstant(event.atWall) },
        previousStatus: after[index - 1]?.status ?? null,
        source: event.source,
      };
      const message = `${event.status} ${event.number ?? numberOf(event, learnt)}`;
      causes.push({ sequence: event.sequence, learntAt: event.seenAt, event: cause, message });
    }
    if (step.correction) {
      const { sequence, byPerson, at } = step.correction;
      const correction: CorrectionCause = {
        ...{ seq: learnt.transaction.seq, sequence, concerns: byPerson ? 'either' : 'before' },
        content: contentOf(step.correction, learnt),
        before: { ...factsAt(learnt, new Date(step.at.getTime() - 1)), events: before },
        after: { ...facts, events: after },
      };
      causes.push({ sequence, learntAt: at, correction });
    }
    before = after;
  }
  return causes;
}

/** Returns what was learnt at once: events with consecutive numbers of one time, and the correction that they made. */
function listSteps({ events, corrections }: LearntHistory): Step[] {
  const steps: Step[] = [];
  const items = [...events, ...corrections].sort((a, b) => a.sequence - b.sequence);
  for (const item of items) {
    const last = steps.at(-1);
    if ('seenAt' in item) {
      if (last && !last.correction && last.at.getTime() === item.seenAt.getTime()) last.events.push(item);
      else steps.push({ at: item.seenAt, events: [item], correction: undefined });
    } else if (last && !last.correction && !item.byPerson && last.at.getTime() === item.at.getTime()) {
      last.correction = item;
    } else steps.push({ at: item.at, events: [], correction: item });
  }
  return steps;
}

/** Returns the number of an event that was stored without one, by the rule of src/ledger/decide/extend-history.ts. */
function numberOf(event: LearntEvent, { events, positions }: LearntHistory): number {
  const becameReal = new Set(positions.map((one) => one.eventSeq));
  const isReal = ({ inferred, seq }: LearntEvent): boolean => !inferred || becameReal.has(seq);
  const earlier = events.filter((one) => one.status === event.status && one.sequence < event.sequence);
  return event.inferred ? 1 : earlier.filter(isReal).length + 1;
}

function contentOf({ sequence, contentHash: hash }: LearntCorrection, { corrections }: LearntHistory) {
  if (hash === null) return null;
  const number = corrections.filter((one) => one.sequence <= sequence && one.contentHash?.equals(hash)).length;
  return { hash, number };
}

/** Places the events as at that time: an inferred event with a position of its own is no longer inferred. */
function positionAt(events: LearntEvent[], { positions }: LearntHistory, at: Date): LearntEvent[] {
  if (positions.length === 0) return events;
  const by = new Map(positions.filter((one) => one.at <= at).map((one) => [one.eventSeq, one.position]));
  return events.map((event) => {
    const position = by.get(event.seq);
    return position === undefined ? event : { ...event, position, inferred: false };
  });
}

/** Returns the facts as at that time: before the first later change of each. */
function factsAt({ transaction, factChanges }: LearntHistory, at: Date): TransactionFacts {
  const facts = { ...transaction };
  for (const name of ['operation', 'reference', 'extra', 'platform'] as const) {
    const change = factChanges.find((one) => one.name === name && one.at > at);
    if (change) Object.assign(facts, { [name]: change.before });
  }
  return facts;
}
