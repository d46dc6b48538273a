import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { setResolved } from './mismatches.ts';

const NOTE_CHARS_MAX = 4000;

/** A person says that they look into it. @throws ConfereError `not_found`, `conflict` when it is over. */
export async function acknowledgeMismatch(
  context: Context,
  id: string,
  by: { actor: string; note: string | undefined },
): Promise<void> {
  await transact(context.db, async (trx) => {
    const row = await trx
      .selectFrom('mismatches')
      .select(['seq', 'state', 'note'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw new ConfereError('not_found', 'there is no such mismatch');
    if (row.state === 'resolved') throw new ConfereError('conflict', 'it is resolved already');
    if (row.state === 'acknowledged') return;
    const now = context.clock.now();
    const note = by.note?.slice(0, NOTE_CHARS_MAX) ?? null;
    await trx
      .updateTable('mismatches')
      .set({ state: 'acknowledged', acknowledged_at: now, note: note ?? row.note })
      .where('seq', '=', row.seq)
      .execute();
    await trx
      .insertInto('mismatch_changes')
      .values({ mismatch_seq: row.seq, at: now, state: 'acknowledged', note, actor: by.actor })
      .execute();
  });
}

/** A person says that it is over, and why. @throws ConfereError as above. */
export async function resolveMismatch(
  context: Context,
  id: string,
  by: { actor: string; note: string | undefined },
): Promise<void> {
  await transact(context.db, async (trx) => {
    const row = await trx
      .selectFrom('mismatches')
      .select(['seq', 'state'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw new ConfereError('not_found', 'there is no such mismatch');
    if (row.state === 'resolved') throw new ConfereError('conflict', 'it is resolved already');
    const note = by.note?.slice(0, NOTE_CHARS_MAX) ?? null;
    await setResolved(trx, row.seq, { resolution: 'by_hand', note, actor: by.actor }, context.clock.now());
  });
}
