import type { Transaction } from 'kysely';
import { checkNote } from '../access/check-note.ts';
import type { Context } from '../context.ts';
import { leaveExpectedWork } from '../database/shared/leave-expected-work.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';

/** @returns whether it was not cancelled before. @throws ConfereError `not_found`. */
export async function cancelExpected(context: Context, { id, actor }: { id: string; actor: string }): Promise<boolean> {
  return await transact(context.db, (trx) => setCancelled(context, trx, { id, actor, isCancelled: true }));
}

/** Takes a cancellation back. @returns whether it was cancelled. @throws ConfereError `not_found`; `invalid_request` without a note. */
export async function reopenExpected(
  context: Context,
  { id, actor, note }: { id: string; actor: string; note: string },
): Promise<boolean> {
  const why = checkNote(note, { missing: 'note_missing' });
  return await transact(context.db, (trx) => setCancelled(context, trx, { id, actor, isCancelled: false, note: why }));
}

type Cancellation = { id: string; actor: string; isCancelled: boolean; note?: string };

async function setCancelled(
  context: Context,
  trx: Transaction<Database>,
  { id, actor, isCancelled, note }: Cancellation,
): Promise<boolean> {
  const { seq, is_cancelled: before } = await lockExpected(trx, id);
  if ((before === 1) === isCancelled) return false;
  const now = context.clock.now();
  const flag = isCancelled ? 1 : 0;
  const { insertId } = await trx
    .insertInto('expected_cancellations')
    .values({ expected_seq: seq, is_cancelled: flag, created_at: now, actor })
    .executeTakeFirstOrThrow();
  if (note !== undefined)
    await trx
      .insertInto('expected_notes')
      .values({ cancellation_seq: Number(insertId), note })
      .execute();
  await trx.updateTable('expected_payments').set({ is_cancelled: flag }).where('seq', '=', seq).execute();
  await leaveExpectedWork(trx, [{ expected_seq: seq }], now);
  return true;
}

/** Locks an expected payment. @throws ConfereError `not_found`. */
export async function lockExpected(trx: Transaction<Database>, id: string) {
  const head = await trx
    .selectFrom('expected_payments')
    .select(['seq', 'operation', 'is_cancelled'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!head) throw refuse('expected_unknown');
  return head;
}
