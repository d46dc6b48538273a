import { mayLogIn } from '../access/users.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { refuse, refuseField } from '../texts/refuse.ts';
import { recordMismatchChange } from './record-mismatch-change.ts';
import { type ActorNote, noteOf } from './resolve-mismatch-by-hand.ts';

/** `owner`: null gives it to nobody. */
export type Assignment = ActorNote & { owner: string | null };

/**
 * Gives a mismatch to its owner, or to nobody; a note replaces its own. An owner that ends later stays.
 * @returns whether it had another, or another note. @throws ConfereError `not_found`; `invalid_request` for an owner who
 *   can't log in; `conflict` for a note on a resolved one.
 */
export async function assignMismatch(context: Context, id: string, { owner, ...by }: Assignment): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    const rows = trx.selectFrom('mismatches').select(['seq', 'owner', 'note', 'state']).where('id', '=', id);
    const mismatch = await rows.forUpdate().executeTakeFirst();
    if (!mismatch) throw refuse('mismatch_unknown');
    const note = noteOf(by) ?? mismatch.note;
    if (mismatch.owner === owner && mismatch.note === note) return false;
    const { clock } = context;
    if (mismatch.note !== note && mismatch.state === 'resolved') throw refuse('mismatch_resolved');
    if (owner !== null && mismatch.owner !== owner && !(await mayLogIn({ db: trx, clock }, owner)))
      throw refuseField('owner', 'owner_unknown');
    await trx.updateTable('mismatches').set({ owner, note }).where('seq', '=', mismatch.seq).execute();
    if (mismatch.note !== note) await recordMismatchChange(trx, [mismatch.seq], { note, actor: by.actor }, clock.now());
    return true;
  });
}
