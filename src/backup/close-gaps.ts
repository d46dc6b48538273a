import type { Context } from '../context.ts';
import { readRestores } from '../database/restores.ts';

/** More webhooks than a receiver takes between two ticks of the watch; if it takes more, the gap ends with one of them. */
const NEWEST = 1_000;

/**
 * Ends the gap of a restore at the first webhook that the restored service received itself: before it, nobody knows whether
 * the provider reaches it. Webhooks of the restored spool are older.
 */
export async function closeGaps({ db }: Context): Promise<void> {
  const open = (await readRestores(db)).filter((restore) => restore.gap_to === null);
  if (open.length === 0) return;
  const newest = db.selectFrom('webhooks').select('received_at').orderBy('seq', 'desc').limit(NEWEST);
  const arrivals = (await newest.execute()).map((row) => row.received_at);
  for (const { seq, restored_at } of open) {
    const [first] = arrivals.filter((at) => at > restored_at).sort((a, b) => a.getTime() - b.getTime());
    if (!first) continue;
    await db
      .updateTable('restores')
      .set({ gap_to: first })
      .where('seq', '=', seq)
      .where('gap_to', 'is', null)
      .execute();
  }
}
