import { mayLogIn } from '../access/users.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { refuse, refuseField } from '../texts/refuse.ts';

/**
 * Gives a mismatch to its owner, or to nobody. An owner that ends later stays.
 * @returns whether it had another. @throws ConfereError `not_found`; `invalid_request` for an owner who can't log in.
 */
export async function assignMismatch(context: Context, id: string, owner: string | null): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    const rows = trx.selectFrom('mismatches').select(['seq', 'owner']).where('id', '=', id);
    const mismatch = await rows.forUpdate().executeTakeFirst();
    if (!mismatch) throw refuse('mismatch_unknown');
    if (mismatch.owner === owner) return false;
    const { clock } = context;
    if (owner !== null && !(await mayLogIn({ db: trx, clock }, owner))) throw refuseField('owner', 'owner_unknown');
    await trx.updateTable('mismatches').set({ owner }).where('seq', '=', mismatch.seq).execute();
    return true;
  });
}
