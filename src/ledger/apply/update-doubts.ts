/**
 * Where the provider contradicts the history: an event of ours that it shows no more, or a row whose own status is not
 * its newest event's; of a row without a history, not that of our newest event. One observation proves nothing: a list may lag behind, a show too. So it has the transaction
 * fetched by its id; two shows that say so, a minute apart and with none between them that says otherwise, are a
 * `status_differs`. A later show that says otherwise ends that. An event that a person agreed is none, and that is shown
 * again, is one at once: there the provider says something, and does not merely leave it out.
 */

import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { describeStatus } from '../../domain/statuses.ts';
import { findCurrentEvent } from '../decide/decide-observation.ts';
import { eventKey, type History, type StoredEvent } from '../decide/extend-history.ts';
import { describeSubject, type HistoryObservation, type TransactionChange } from './fold-observations.ts';
import type { Doubt } from './load-stored-transactions.ts';
import { SHOW_INTERVAL_MS_MIN, type TransactionRef, writeDoubtedStatus, writeDoubts } from './write-doubts.ts';

/** What is doubted of a transaction: its events, by their row numbers, and the row's own status. */
type Doubts = { events: Map<number, Doubt>; own: Doubt | undefined };
type Over = { kind: 'status_differs'; scope: string; askedAt: Date };

/** @param seqs row numbers of the transactions by id. */
export async function updateDoubts(
  context: Context,
  trx: Transaction<Database>,
  changes: TransactionChange[],
  seqs: Map<string, number>,
): Promise<{ found: FoundMismatch[]; over: Over[] }> {
  const found: FoundMismatch[] = [];
  const over: Over[] = [];
  for (const change of changes) {
    const { id } = change.after;
    const looks = change.observations.filter((look) => look.isNewest);
    looks.sort((a, b) => a.askedAt.getTime() - b.askedAt.getTime());
    if (looks.length === 0) continue;
    const before: Doubts = { events: change.loaded?.doubts ?? new Map(), own: change.loaded?.statusDoubt };
    const { after, difference, clearedAt } = weighLooks(context, before, looks, change.after);
    const transaction: TransactionRef = { id, seq: requireRowNumber(seqs.get(id), `transaction ${id}`) };
    await writeDoubts(trx, transaction, before.events, after.events, context.clock.now());
    if (after.own !== before.own) await writeDoubtedStatus(trx, transaction, after.own, context.clock.now());
    const doubted = isDoubted(before) || change.after.outOfForce.some((one) => !one.inferred);
    if (difference) found.push({ kind: 'status_differs', ...describeSubject(change, transaction.seq), ...difference });
    else if (clearedAt && doubted) over.push({ kind: 'status_differs', scope: id, askedAt: clearedAt });
  }
  return { found, over };
}

/**
 * What observations, the oldest first, leave of the doubts.
 * @returns also the newest difference that they report, and when the last show was asked that left nothing of what shows
 * had reported; each undefined where there is none.
 */
function weighLooks(context: Context, before: Doubts, looks: HistoryObservation[], history: History) {
  const after: Doubts = { events: followEvents(before.events, history), own: before.own };
  let clearedAt: Date | undefined;
  let difference: Difference | undefined;
  for (const look of looks) {
    if (look.isComplete) weighEvents(after.events, look, history.events);
    after.own = weighOwnStatus(after.own, look);
    const isTold = after.own?.isReported === true || [...after.events.values()].some((doubt) => doubt.isReported);
    const isCleared = look.isShow && !isTold;
    if (isTold) clearedAt = undefined;
    else if (isCleared) clearedAt = look.askedAt;
    difference = describeDifference(context, history, look, after) ?? (isCleared ? undefined : difference);
  }
  return { after, difference, clearedAt };
}

function isDoubted({ events, own }: Doubts): boolean {
  return events.size > 0 || own !== undefined;
}

/** An event that gave way is doubted no more, unless to itself at another time. */
function followEvents(doubts: Map<number, Doubt>, history: History): Map<number, Doubt> {
  const known = new Map([...history.events, ...history.outOfForce].map((event) => [event.seq, event]));
  return new Map(
    [...doubts].flatMap(([seq, doubt]): [number, Doubt][] => {
      const event = known.get(seq);
      const standing = event && findCurrentEvent(history, event);
      return standing?.seq !== undefined && history.events.includes(standing) ? [[standing.seq, doubt]] : [];
    }),
  );
}

function weighEvents(doubts: Map<number, Doubt>, look: HistoryObservation, history: StoredEvent[]): void {
  const lacks = new Set(look.lacks.map(eventKey));
  for (const event of history) {
    if (event.seq === undefined) continue;
    const doubt = lacks.has(eventKey(event)) ? deepen(doubts.get(event.seq), look) : ease(doubts.get(event.seq), look);
    if (doubt) doubts.set(event.seq, doubt);
    else doubts.delete(event.seq);
  }
}

/** A row that can't tell leaves a doubt as it is. */
function weighOwnStatus(doubt: Doubt | undefined, look: HistoryObservation): Doubt | undefined {
  if (look.statusAgrees === undefined) return doubt;
  return look.statusAgrees ? ease(doubt, look) : deepen(doubt, look);
}

function deepen(doubt: Doubt | undefined, { askedAt, isShow }: HistoryObservation): Doubt {
  if (!doubt) return { noticedAt: askedAt, shownWithoutAt: isShow ? askedAt : null, isReported: false };
  if (!isShow) return doubt;
  if (!doubt.shownWithoutAt) return { ...doubt, shownWithoutAt: askedAt };
  const told = doubt.isReported || askedAt.getTime() - doubt.shownWithoutAt.getTime() >= SHOW_INTERVAL_MS_MIN;
  return told === doubt.isReported ? doubt : { ...doubt, isReported: told };
}

/** What a look that says otherwise leaves of a doubt: what shows have told, a show must take back. */
function ease(doubt: Doubt | undefined, { askedAt, isShow }: HistoryObservation): Doubt | undefined {
  if (!doubt || askedAt <= (doubt.shownWithoutAt ?? doubt.noticedAt)) return doubt;
  if (!doubt.isReported || isShow) return undefined;
  // it is asked for anew
  return doubt.shownWithoutAt ? { ...doubt, noticedAt: askedAt, shownWithoutAt: null } : doubt;
}

type Difference = Pick<FoundMismatch, 'expected' | 'actual'>;

function describeDifference(
  context: Context,
  history: History,
  look: HistoryObservation,
  doubts: Doubts,
): Difference | undefined {
  // a list says nothing new of what shows have told
  const gone = look.isShow ? look.lacks.filter((event) => doubts.events.get(event.seq ?? 0)?.isReported) : [];
  const isOwnReported = look.isShow && doubts.own?.isReported === true && look.statusAgrees === false;
  if (gone.length + look.showsAgain.length === 0 && !isOwnReported) return undefined;
  const lacks = isOwnReported
    ? [...gone, ...listDisowned(history, look).filter((event) => !gone.includes(event))]
    : gone;
  const name = (event: StoredEvent) => ({
    status: event.status,
    at: context.calendar.toIso(event.atWall),
    sequence: event.sequence,
  });
  return {
    expected: { status: history.events.at(-1)?.status },
    actual: {
      status: describeStatus(look.status),
      lacks: lacks.map(name),
      shows_again: look.showsAgain.map(name),
      ...(isOwnReported && look.history.length > 0 ? { history: look.history.map(describeStatus) } : {}),
    },
  };
}

/**
 * Events of ours that can't stand beside a row that contradicts itself, or us: inferred ones that its history lacks; of a
 * row without a history, those after its status.
 */
function listDisowned({ events }: History, look: HistoryObservation): StoredEvent[] {
  if (look.history.length > 0) return events.filter((event) => event.inferred && !look.history.includes(event.status));
  const standing = events.findLastIndex((event) => event.status === look.status);
  return standing < 0 ? [] : events.slice(standing + 1);
}
