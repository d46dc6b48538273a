/**
 * Contradictions between the provider and the stored history: an event that the provider no longer shows, or a row
 * whose own status is not that of its newest event (for a row without a history: not that of our newest event).
 *
 * One observation proves nothing, since lists and shows can lag. It records a doubt, and the transaction is fetched by
 * id. Two shows at least a minute apart that agree, with none between them that denies it, raise `status_differs`; a
 * later show that denies it resolves that. An event that a person took out of force and that is shown again raises
 * `status_differs` at once: there the provider states something, and does not merely omit it.
 */

import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { eventKey, type History, type StoredEvent } from '../../domain/sort-history.ts';
import { describeStatus } from '../../domain/statuses.ts';
import { findCurrentEvent } from '../decide/decide-observation.ts';
import { describeSubject, type HistoryObservation, type TransactionChange } from './fold-observations.ts';
import type { Doubt } from './load-stored-transactions.ts';
import { SHOW_INTERVAL_MS_MIN, type TransactionRef, writeDoubtedStatus, writeDoubts } from './write-doubts.ts';

/** The doubts about a transaction: about its events, by row number, and about the row's own status. */
type Doubts = { events: Map<number, Doubt>; own: Doubt | undefined };
type Resolved = { kind: 'status_differs'; scope: string; askedAt: Date };

/** Updates the doubts of changed transactions. @param seqs row numbers of the transactions by id. */
export async function updateDoubts(
  context: Context,
  trx: Transaction<Database>,
  changes: TransactionChange[],
  seqs: Map<string, number>,
): Promise<{ found: FoundMismatch[]; resolved: Resolved[] }> {
  const found: FoundMismatch[] = [];
  const resolved: Resolved[] = [];
  for (const change of changes) {
    const { id } = change.after;
    const observations = change.observations.filter((observation) => observation.isNewest);
    observations.sort((a, b) => a.askedAt.getTime() - b.askedAt.getTime());
    if (observations.length === 0) continue;
    const before: Doubts = { events: change.loaded?.doubts ?? new Map(), own: change.loaded?.statusDoubt };
    const { after, difference, clearedAt } = foldDoubts(context, before, observations, change.after);
    const transaction: TransactionRef = { id, seq: requireRowNumber(seqs.get(id), `transaction ${id}`) };
    await writeDoubts(trx, transaction, before.events, after.events, context.clock.now());
    if (after.own !== before.own) await writeDoubtedStatus(trx, transaction, after.own, context.clock.now());
    const doubted = isDoubted(before) || change.after.outOfForce.some((one) => !one.inferred);
    if (difference) found.push({ kind: 'status_differs', ...describeSubject(change, transaction.seq), ...difference });
    else if (clearedAt && doubted) resolved.push({ kind: 'status_differs', scope: id, askedAt: clearedAt });
  }
  return { found, resolved };
}

/**
 * Applies observations, oldest first, to the doubts.
 * @returns the doubts after them; the newest difference to report; and when the last show was requested that cleared
 *   all reported doubts. The last two are undefined where there is none.
 */
function foldDoubts(context: Context, before: Doubts, observations: HistoryObservation[], history: History) {
  const after: Doubts = { events: followEvents(before.events, history), own: before.own };
  let clearedAt: Date | undefined;
  let difference: Difference | undefined;
  for (const observation of observations) {
    if (observation.isComplete) updateEventDoubts(after.events, observation, history.events);
    after.own = updateStatusDoubt(after.own, observation);
    const isReported = after.own?.isReported === true || [...after.events.values()].some((doubt) => doubt.isReported);
    const isCleared = observation.isShow && !isReported;
    if (isReported) clearedAt = undefined;
    else if (isCleared) clearedAt = observation.askedAt;
    difference = describeDifference(context, history, observation, after) ?? (isCleared ? undefined : difference);
  }
  return { after, difference, clearedAt };
}

function isDoubted({ events, own }: Doubts): boolean {
  return events.size > 0 || own !== undefined;
}

/**
 * Moves a doubt about an inferred event to the event that replaced it at another time; drops it for other
 * replacements.
 */
function followEvents(doubts: Map<number, Doubt>, history: History): Map<number, Doubt> {
  const known = new Map([...history.events, ...history.outOfForce].map((event) => [event.seq, event]));
  return new Map(
    [...doubts].flatMap(([seq, doubt]): [number, Doubt][] => {
      const event = known.get(seq);
      const current = event && findCurrentEvent(history, event);
      return current?.seq !== undefined && history.events.includes(current) ? [[current.seq, doubt]] : [];
    }),
  );
}

function updateEventDoubts(doubts: Map<number, Doubt>, observation: HistoryObservation, history: StoredEvent[]): void {
  const lacks = new Set(observation.lacks.map(eventKey));
  for (const event of history) {
    if (event.seq === undefined) continue;
    const doubt = lacks.has(eventKey(event))
      ? confirmDoubt(doubts.get(event.seq), observation)
      : denyDoubt(doubts.get(event.seq), observation);
    if (doubt) doubts.set(event.seq, doubt);
    else doubts.delete(event.seq);
  }
}

/** A row that says nothing about its status leaves the doubt unchanged. */
function updateStatusDoubt(doubt: Doubt | undefined, observation: HistoryObservation): Doubt | undefined {
  if (observation.statusAgrees === undefined) return doubt;
  return observation.statusAgrees ? denyDoubt(doubt, observation) : confirmDoubt(doubt, observation);
}

function confirmDoubt(doubt: Doubt | undefined, { askedAt, isShow }: HistoryObservation): Doubt {
  if (!doubt) return { noticedAt: askedAt, shownWithoutAt: isShow ? askedAt : null, isReported: false };
  if (!isShow) return doubt;
  if (!doubt.shownWithoutAt) return { ...doubt, shownWithoutAt: askedAt };
  const isReported = doubt.isReported || askedAt.getTime() - doubt.shownWithoutAt.getTime() >= SHOW_INTERVAL_MS_MIN;
  return isReported === doubt.isReported ? doubt : { ...doubt, isReported };
}

/** Applies an observation that contradicts a doubt: a doubt that shows reported can only be cleared by a show. */
function denyDoubt(doubt: Doubt | undefined, { askedAt, isShow }: HistoryObservation): Doubt | undefined {
  if (!doubt || askedAt <= (doubt.shownWithoutAt ?? doubt.noticedAt)) return doubt;
  if (!doubt.isReported || isShow) return undefined;
  // a list denies a reported doubt: await a new show
  return doubt.shownWithoutAt ? { ...doubt, noticedAt: askedAt, shownWithoutAt: null } : doubt;
}

type Difference = Pick<FoundMismatch, 'expected' | 'actual'>;

function describeDifference(
  context: Context,
  history: History,
  observation: HistoryObservation,
  doubts: Doubts,
): Difference | undefined {
  // a list adds nothing to what shows have reported
  const gone = observation.isShow
    ? observation.lacks.filter(({ seq }) => seq !== undefined && doubts.events.get(seq)?.isReported)
    : [];
  const isOwnReported = observation.isShow && doubts.own?.isReported === true && observation.statusAgrees === false;
  if (gone.length + observation.showsAgain.length === 0 && !isOwnReported) return undefined;
  const lacks = isOwnReported
    ? [...gone, ...listContradicted(history, observation).filter((event) => !gone.includes(event))]
    : gone;
  const name = (event: StoredEvent) => ({
    status: event.status,
    at: context.calendar.toIso(event.atWall),
    sequence: event.sequence,
  });
  return {
    expected: { status: history.events.at(-1)?.status },
    actual: {
      status: describeStatus(observation.status),
      lacks: lacks.map(name),
      shows_again: observation.showsAgain.map(name),
      ...(isOwnReported && observation.history.length > 0 ? { history: observation.history.map(describeStatus) } : {}),
    },
  };
}

/**
 * Returns events of ours that contradict a row whose status disagrees with its history or with ours: inferred events
 * that its history lacks; for a row without a history, the events after its status.
 */
function listContradicted({ events }: History, observation: HistoryObservation): StoredEvent[] {
  if (observation.history.length > 0)
    return events.filter((event) => event.inferred && !observation.history.includes(event.status));
  const index = events.findLastIndex((event) => event.status === observation.status);
  return index < 0 ? [] : events.slice(index + 1);
}
