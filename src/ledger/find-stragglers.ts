import type { Reader } from '../database/reader.ts';
import type { Seal } from './read-head.ts';
import { parseMembers } from './seal-members.ts';
import { UNSETTLED_ROWS_MAX } from './settle-tops.ts';

/** No transaction of ours lives longer: what is older than this and in no seal was not written by the program. */
const LATE_MS_MAX = 10 * 60_000;
export const SEAL_ENTRIES_MAX = 2_000;

/**
 * Entries at or below the head's number that no position has sealed: they were committed after a higher number was
 * settled, as another node of a Galera cluster may do.
 * @returns their numbers, ascending; none in nearly every call, and then for the price of a count.
 */
export async function findStragglers(db: Reader, head: Seal, now: Date): Promise<number[]> {
  const settledLongAgo = await db
    .selectFrom('seals')
    .select('entry_seq')
    .where('sealed_at', '<', new Date(now.getTime() - LATE_MS_MAX))
    .orderBy('sealed_at', 'desc')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  const floor = Math.max(head.entrySeq - UNSETTLED_ROWS_MAX, settledLongAgo?.entry_seq ?? 0, 0);
  if (floor >= head.entrySeq) return [];
  const seals = await db
    .selectFrom('seals')
    .select('members')
    .where('position', '<=', head.position)
    .where('entry_seq', '>', floor)
    .orderBy('position', 'desc')
    .execute();
  const sealed = new Set<number>();
  for (const { members } of seals) {
    for (const seq of parseMembers(members, SEAL_ENTRIES_MAX)) if (seq > floor) sealed.add(seq);
  }
  const written = db.selectFrom('entries').where('seq', '>', floor).where('seq', '<=', head.entrySeq);
  const count = await written.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirst();
  if (Number(count?.count ?? 0) === sealed.size) return [];
  const rows = await written.select('seq').orderBy('seq').execute();
  return rows.map((row) => row.seq).filter((seq) => !sealed.has(seq));
}
