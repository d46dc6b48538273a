/**
 * Events of ours that the provider shows no more. One look proves nothing: a list may lag behind, a show too. So a look
 * that lacks an event has it asked for by its id; two shows without it, a minute apart and with no look between them that
 * has it, are a `status_differs`. A later show that has it again ends that. An event that a person agreed is none, and
 * that is shown again, is one at once: there the provider says something, and does not merely leave it out.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { type Change, type LookAtEvents, nameFound } from './fold-observations.ts';
import type { HeldEvent } from './history.ts';
import type { Doubt } from './load-held.ts';

/** How far apart two shows must be asked. */
export const SHOWS_APART_MS = 60_000;

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
  const looked = changes.filter((change) => change.looks.some((look) => look.whole));
  const found: FoundMismatch[] = [];
  const over: Over[] = [];
  for (const change of looked) {
    const { id } = change.held;
    const before = change.loaded?.doubts ?? new Map();
    const after: Doubts = new Map(before);
    const looks = change.looks.filter((look) => look.whole).sort((a, b) => a.askedAt.getTime() - b.askedAt.getTime());
    for (const look of looks) weighLook(after, look, change.held.events);
    await writeDoubts(trx, { id, seq: seqs.get(id) ?? 0 }, before, after, context.clock.now());
    const last = looks.at(-1);
    const difference = last && tellDifference(context, change, last, after);
    if (difference) found.push({ kind: 'status_differs', ...nameFound(change, seqs.get(id) ?? 0), ...difference });
    else if (last?.isShow && after.size === 0 && (before.size > 0 || change.held.struck.length > 0)) {
      over.push({ kind: 'status_differs', scope: id, askedAt: last.askedAt });
    }
  }
  return { found, over };
}

/** Changes the doubts by one look. */
function weighLook(doubts: Doubts, look: LookAtEvents, events: HeldEvent[]): void {
  const lacks = new Set(look.lacks);
  for (const event of events) {
    if (event.seq === undefined || event.inferred) continue;
    const doubt = doubts.get(event.seq);
    if (lacks.has(event)) doubts.set(event.seq, deepen(doubt, look));
    else if (doubt && look.askedAt > (doubt.shownWithoutAt ?? doubt.noticedAt)) {
      // what shows have told, a show must take back: it is asked for anew
      if (doubt.told && !look.isShow) {
        doubts.set(event.seq, { noticedAt: look.askedAt, shownWithoutAt: null, told: false });
      } else doubts.delete(event.seq);
    }
  }
}

function deepen(doubt: Doubt | undefined, { askedAt, isShow }: LookAtEvents): Doubt {
  if (!doubt) return { noticedAt: askedAt, shownWithoutAt: isShow ? askedAt : null, told: false };
  if (!isShow) return doubt;
  if (!doubt.shownWithoutAt) return { ...doubt, shownWithoutAt: askedAt };
  const told = doubt.told || askedAt.getTime() - doubt.shownWithoutAt.getTime() >= SHOWS_APART_MS;
  return { ...doubt, told };
}

function tellDifference(context: Context, { held }: Change, look: LookAtEvents, doubts: Doubts) {
  // a list says nothing new of what shows have told
  const gone = look.isShow ? look.lacks.filter((event) => doubts.get(event.seq ?? 0)?.told) : [];
  if (gone.length + look.showsAgain.length === 0) return undefined;
  const name = (event: HeldEvent) => ({
    status: event.status,
    at: context.calendar.toIso(event.atWall),
    sequence: event.sequence,
  });
  return {
    expected: { status: held.events.at(-1)?.status },
    actual: { status: look.status, lacks: gone.map(name), shows_again: look.showsAgain.map(name) },
  };
}

async function writeDoubts(
  trx: Transaction<Database>,
  transaction: { id: string; seq: number },
  before: Doubts,
  after: Doubts,
  now: Date,
): Promise<void> {
  const gone = [...before.keys()].filter((seq) => !after.has(seq));
  if (gone.length > 0) await forgetDoubts(trx, gone);
  const changed = [...after].filter(([seq, doubt]) => before.get(seq) !== doubt);
  for (const [seq, { noticedAt, shownWithoutAt, told }] of changed) {
    const due = shownWithoutAt ? new Date(shownWithoutAt.getTime() + SHOWS_APART_MS) : now;
    const row = { noticed_at: noticedAt, shown_without_at: shownWithoutAt, due_at: told ? null : due };
    await trx
      .insertInto('doubted_events')
      .values({
        event_seq: seq,
        transaction_seq: transaction.seq,
        transaction_id: transaction.id,
        ...row,
      })
      .onDuplicateKeyUpdate(row)
      .execute();
  }
}

/** Nobody asks for these events any more. */
export async function forgetDoubts(trx: Transaction<Database>, eventSeqs: number[]): Promise<void> {
  await trx.deleteFrom('doubted_events').where('event_seq', 'in', eventSeqs).execute();
}

/** They are asked for again at this time, unless a look answers before. */
export async function putOffDoubts(trx: Transaction<Database>, transactionIds: string[], until: Date): Promise<void> {
  if (transactionIds.length === 0) return;
  await trx
    .updateTable('doubted_events')
    .set({ due_at: until })
    .where('transaction_id', 'in', transactionIds)
    .where('due_at', 'is not', null)
    .execute();
}
