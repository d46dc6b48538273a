import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from 'kysely';
import { checkNote } from '../access/check-note.ts';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';
import { recordMismatchChange } from './record-mismatch-change.ts';
import { setResolved } from './resolve-mismatches.ts';

export const MISMATCH_NOTE_CHARS_MAX = 4_000;

export type ActorNote = { actor: string; note: string | undefined };
/** `actual`: the evidence that the person saw; undefined: they did not say. */
export type Decision = ActorNote & { actual?: unknown };

/** Acknowledges a mismatch. @throws ConfereError `not_found`, `conflict` when it is resolved. */
export async function acknowledgeMismatch(context: Context, id: string, by: ActorNote): Promise<void> {
  await transact(context.db, async (trx) => {
    const row = await lockUnresolvedMismatch(trx, id);
    if (row.state === 'acknowledged') return;
    await setAcknowledged(trx, [row], by, context.clock.now());
  });
}

/** Marks locked, open mismatches as acknowledged. A note replaces theirs. */
export async function setAcknowledged(
  trx: Transaction<Database>,
  rows: { seq: number }[],
  by: ActorNote,
  now: Date,
): Promise<void> {
  if (rows.length === 0) return;
  const note = noteOf(by);
  const seqs = rows.map(({ seq }) => seq);
  await trx
    .updateTable('mismatches')
    .set({ state: 'acknowledged', acknowledged_at: now, ...(note === null ? {} : { note }) })
    .where('seq', 'in', seqs)
    .execute();
  await recordMismatchChange(trx, seqs, { note, actor: by.actor }, now);
}

/**
 * Resolves a mismatch with a note; the books do not change. @throws ConfereError `not_found`, `conflict` when it is
 * resolved or its evidence is not `by.actual`, `invalid_request` for a critical one without a note.
 */
export async function resolveMismatchByHand(context: Context, id: string, by: Decision): Promise<void> {
  let endedAt: Date | undefined;
  await transact(context.db, async (trx) => {
    if (endedAt && (await wasResolved(trx, id, { actor: by.actor, at: endedAt }))) return;
    const row = await lockUnresolvedMismatch(trx, id);
    requireSeen(row, by);
    if (row.severity === 'critical') requireReason(by);
    const end = { resolution: 'by_hand', note: noteOf(by), actor: by.actor };
    endedAt = context.clock.now();
    await setResolved(trx, row.seq, end, endedAt);
  });
}

/** A critical mismatch is resolved only with a note. @throws ConfereError `invalid_request`. */
export function requireReason({ note }: ActorNote): void {
  checkNote(note, { missing: 'note_required', charsMax: MISMATCH_NOTE_CHARS_MAX });
}

/** A decision is about the evidence that the person saw. @throws ConfereError `conflict` if a locked mismatch has another by now. */
export function requireSeen(mismatch: { actual: string | null }, { actual }: Decision): void {
  if (actual === undefined || isDeepStrictEqual(actual, JSON.parse(mismatch.actual ?? 'null'))) return;
  throw refuse('mismatch_changed');
}

/** Whether an earlier attempt of the same transaction was committed: it resolved the mismatch at that very instant. */
export async function wasResolved(
  trx: Transaction<Database>,
  id: string,
  { actor, at }: { actor: string; at: Date },
): Promise<boolean> {
  const change = await trx
    .selectFrom('mismatch_changes')
    .innerJoin('mismatches', 'mismatches.seq', 'mismatch_changes.mismatch_seq')
    .select('mismatch_changes.seq')
    .where('mismatches.id', '=', id)
    .where('mismatch_changes.state', '=', 'resolved')
    .where('mismatch_changes.actor', '=', actor)
    .where('mismatch_changes.at', '=', at)
    .executeTakeFirst();
  return change !== undefined;
}

/** Locks a mismatch. @throws ConfereError `not_found`, `conflict` when it is resolved. */
export async function lockUnresolvedMismatch(trx: Transaction<Database>, id: string) {
  const row = await trx
    .selectFrom('mismatches')
    .select(['seq', 'kind', 'severity', 'scope', 'state', 'note', 'actual'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw refuse('mismatch_unknown');
  if (row.state === 'resolved') throw refuse('mismatch_resolved');
  return row;
}

/** The note of a decision; null without one. @throws ConfereError `invalid_request` for one that is too long. */
export function noteOf({ note }: ActorNote): string | null {
  return note?.trim() ? checkNote(note, { charsMax: MISMATCH_NOTE_CHARS_MAX }) : null;
}
