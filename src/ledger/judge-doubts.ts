/**
 * Where the provider contradicts the history: an event of ours that it shows no more, or a row whose own status is not
 * its newest event's. One observation proves nothing: a list may lag behind, a show too. So it has the transaction
 * fetched by its id; two shows that say so, a minute apart and with none between them that says otherwise, are a
 * `status_differs`. A later show that says otherwise ends that. An event that a person agreed is none, and that is shown
 * again, is one at once: there the provider says something, and does not merely leave it out.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { nameStatus } from '../domain/statuses.ts';
import { type Change, type LookAtEvents, nameFound } from './fold-observations.ts';
import { eventKey, type HeldEvent } from './history.ts';
import type { Doubt } from './load-held.ts';
import { type OfTransaction, SHOWS_APART_MS, writeDoubtedStatus, writeDoubts } from './write-doubts.ts';

/** By the event's row number. */
type Doubts = Map<number, Doubt>;
type Over = { kind: 'status_differs'; scope: string; askedAt: Date };

/** @param seqs row numbers of the transactions by id. */
export async function judgeDoubts(
  context: Context,
  trx: Transaction<Database>,
  changes: Change[],
  seqs: Map<string, number>,
): Promise<{ found: FoundMismatch[]; over: Over[] }> {
  const found: FoundMismatch[] = [];
  const over: Over[] = [];
  for (const change of changes) {
    const { id } = change.held;
    const looks = change.looks.filter((look) => look.newest);
    looks.sort((a, b) => a.askedAt.getTime() - b.askedAt.getTime());
    const last = looks.at(-1);
    if (!last) continue;
    const before = change.loaded?.doubts ?? new Map();
    const after: Doubts = new Map(before);
    for (const look of looks.filter((one) => one.whole)) weighLook(after, look, change.held.events);
    const ownBefore = change.loaded?.ownDoubt;
    const own = looks.reduce(evaluateOwnStatus, ownBefore);
    const transaction: OfTransaction = { id, seq: seqs.get(id) ?? 0 };
    await writeDoubts(trx, transaction, before, after, context.clock.now());
    if (own !== ownBefore) await writeDoubtedStatus(trx, transaction, own, context.clock.now());
    const difference = tellDifference(context, change, last, { events: after, own });
    const doubted = before.size > 0 || ownBefore !== undefined || change.held.struck.some((one) => !one.inferred);
    if (difference) found.push({ kind: 'status_differs', ...nameFound(change, transaction.seq), ...difference });
    else if (last.isShow && after.size === 0 && own === undefined && doubted) {
      over.push({ kind: 'status_differs', scope: id, askedAt: last.askedAt });
    }
  }
  return { found, over };
}

/** Changes the doubts by one look. */
function weighLook(doubts: Doubts, look: LookAtEvents, events: HeldEvent[]): void {
  const lacks = new Set(look.lacks.map(eventKey));
  for (const event of events) {
    if (event.seq === undefined || event.inferred) continue;
    const doubt = lacks.has(eventKey(event)) ? deepen(doubts.get(event.seq), look) : ease(doubts.get(event.seq), look);
    if (doubt) doubts.set(event.seq, doubt);
    else doubts.delete(event.seq);
  }
}

/** A row without a history neither contradicts itself nor agrees with itself: it leaves a doubt as it is. */
function evaluateOwnStatus(doubt: Doubt | undefined, look: LookAtEvents): Doubt | undefined {
  if (look.history.length === 0) return doubt;
  return contradictsItself(look) ? deepen(doubt, look) : ease(doubt, look);
}

function contradictsItself({ status, history }: LookAtEvents): boolean {
  return history.length > 0 && history.at(-1) !== status;
}

function deepen(doubt: Doubt | undefined, { askedAt, isShow }: LookAtEvents): Doubt {
  if (!doubt) return { noticedAt: askedAt, shownWithoutAt: isShow ? askedAt : null, told: false };
  if (!isShow) return doubt;
  if (!doubt.shownWithoutAt) return { ...doubt, shownWithoutAt: askedAt };
  const told = doubt.told || askedAt.getTime() - doubt.shownWithoutAt.getTime() >= SHOWS_APART_MS;
  return told === doubt.told ? doubt : { ...doubt, told };
}

/** What a look that says otherwise leaves of a doubt. */
function ease(doubt: Doubt | undefined, { askedAt, isShow }: LookAtEvents): Doubt | undefined {
  if (!doubt || askedAt <= (doubt.shownWithoutAt ?? doubt.noticedAt)) return doubt;
  // what shows have told, a show must take back: it is asked for anew
  return doubt.told && !isShow ? { noticedAt: askedAt, shownWithoutAt: null, told: false } : undefined;
}

function tellDifference(
  context: Context,
  { held }: Change,
  look: LookAtEvents,
  doubts: { events: Doubts; own: Doubt | undefined },
) {
  // a list says nothing new of what shows have told
  const gone = look.isShow ? look.lacks.filter((event) => doubts.events.get(event.seq ?? 0)?.told) : [];
  const isOwnReported = look.isShow && doubts.own?.told === true && contradictsItself(look);
  if (gone.length + look.showsAgain.length === 0 && !isOwnReported) return undefined;
  const name = (event: HeldEvent) => ({
    status: event.status,
    at: context.calendar.toIso(event.atWall),
    sequence: event.sequence,
  });
  return {
    expected: { status: held.events.at(-1)?.status },
    actual: {
      status: nameStatus(look.status),
      lacks: gone.map(name),
      shows_again: look.showsAgain.map(name),
      ...(isOwnReported ? { history: look.history.map(nameStatus) } : {}),
    },
  };
}
