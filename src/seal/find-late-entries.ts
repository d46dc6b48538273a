import type { Reader } from '../database/reader.ts';
import { append } from '../domain/lists.ts';
import { parseMembers } from './format-members.ts';
import type { Seal } from './read-seals.ts';

/** Maximum duration of a transaction of ours: an older entry that no seal contains was not written by the program. */
export const LATE_MS_MAX = 10 * 60_000;
export const SEAL_ENTRIES_MAX = 2_000;

/** More entries than other nodes commit concurrently: the search that runs each second goes back this far. */
const NEAR_ENTRIES = 20_000;
const SEALS_AT_ONCE = 1_000;

/** How far to search: the newest numbers, or everything sealed in the ten minutes before the head. */
export type LateSearch = 'near' | 'far';

type Bound = { position: number; entry_seq: number };
type SealRow = Bound & { entries: number; stragglers: number };

/**
 * Returns late entries: at or below the head's number, but in no seal. They were committed after the watermark passed
 * their number, as another node of a Galera cluster may do.
 * @returns their numbers, ascending; almost always none. Seals without a gap in their numbers leave no room for late
 *   entries, so entries are counted only from the first gap to the last.
 */
export async function findLateEntries(db: Reader, head: Seal, lateSearch: LateSearch = 'near'): Promise<number[]> {
  return (await searchLate(db, head, lateSearch)).found;
}

/** As findLateEntries. `hasRoom`: some of these seals have a gap, so entries can still come late. */
export async function searchLate(
  db: Reader,
  head: Seal,
  lateSearch: LateSearch,
): Promise<{ found: number[]; hasRoom: boolean }> {
  let from = await findFloor(db, head, lateSearch);
  const found: number[] = [];
  let hasRoom = false;
  while (from.position < head.position) {
    const seals = await db
      .selectFrom('seals')
      .select(['position', 'entry_seq', 'entries', 'stragglers'])
      .where('position', '>', from.position)
      .where('position', '<=', head.position)
      .orderBy('position')
      .limit(SEALS_AT_ONCE)
      .execute();
    const last = seals.at(-1);
    if (!last) break;
    const { bound, gapped } = cutToGaps(from, seals);
    append(found, await searchSeals(db, bound, gapped));
    hasRoom ||= gapped.length > 0;
    from = last;
  }
  return { found, hasRoom };
}

/** Narrows seals to the range from the first gap to the last. @param from the bound before the first seal. */
function cutToGaps(from: Bound, seals: SealRow[]): { bound: Bound; gapped: SealRow[] } {
  const bounds = [from, ...seals];
  const hasGap = ({ entries, stragglers, entry_seq }: SealRow, index: number): boolean =>
    entries - stragglers < entry_seq - (bounds[index]?.entry_seq ?? 0);
  const [first, last] = [seals.findIndex(hasGap), seals.findLastIndex(hasGap)];
  return { bound: bounds[Math.max(0, first)] ?? from, gapped: first < 0 ? [] : seals.slice(first, last + 1) };
}

async function findFloor(db: Reader, head: Seal, lateSearch: LateSearch): Promise<Bound> {
  // relative to the head, not to now: finds entries that came late while nothing was sealed
  const longBefore = await db
    .selectFrom('seals')
    .select(['position', 'entry_seq'])
    .where('sealed_at', '<', new Date(head.sealedAt.getTime() - LATE_MS_MAX))
    .orderBy('sealed_at', 'desc')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  const floor = longBefore ?? { position: 0, entry_seq: 0 };
  if (lateSearch === 'far' || head.entrySeq - floor.entry_seq <= NEAR_ENTRIES) return floor;
  const near = await db
    .selectFrom('seals')
    .select(['position', 'entry_seq'])
    .where('position', '>', floor.position)
    .where('position', '<=', head.position)
    .where('entry_seq', '<=', head.entrySeq - NEAR_ENTRIES)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return near ?? floor;
}

/** Searches consecutive seals by halves, until each surplus entry is attributed to one seal. */
async function searchSeals(db: Reader, from: Bound, seals: SealRow[]): Promise<number[]> {
  const last = seals.at(-1);
  if (!last || last.entry_seq <= from.entry_seq) return [];
  const [range, taken] = [{ after: from.entry_seq, to: last.entry_seq }, await readSealedLate(db, from, last)];
  const sealed = seals.reduce((sum, seal) => sum + seal.entries - seal.stragglers, 0) + taken.length;
  const written = db.selectFrom('entries').where('seq', '>', range.after).where('seq', '<=', range.to);
  const count = await written.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirst();
  if (Number(count?.count ?? 0) === sealed) return [];
  const [half, middle] = [seals.length >> 1, seals[(seals.length >> 1) - 1]];
  if (middle) {
    const lower = await searchSeals(db, from, seals.slice(0, half));
    return [...lower, ...(await searchSeals(db, middle, seals.slice(half)))];
  }
  const rows = await written.select('seq').orderBy('seq').execute();
  const known = new Set([...(await readMembers(db, last.position)), ...taken]);
  return rows.map((row) => row.seq).filter((seq) => !known.has(seq));
}

async function readSealedLate(db: Reader, from: Bound, to: Bound): Promise<number[]> {
  const rows = await db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('entry_seq', '>', from.entry_seq)
    .where('entry_seq', '<=', to.entry_seq)
    .execute();
  return rows.map((row) => row.entry_seq);
}

async function readMembers(db: Reader, position: number): Promise<number[]> {
  const row = await db.selectFrom('seals').select('members').where('position', '=', position).executeTakeFirst();
  return parseMembers(row?.members ?? '', SEAL_ENTRIES_MAX);
}
