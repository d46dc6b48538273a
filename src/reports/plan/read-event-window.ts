/**
 * The newest event numbers up to a cut, one bit each: set where the event was committed when the revision was written. A
 * number is drawn before its event is committed; on another node of a cluster the commit may follow the cut. An event
 * with entries is found by the members of its seal (read-late.ts). An event that moves no money is in no seal, so its bit
 * keeps it out when the file is rebuilt from the cut.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';

/** Far more than are under way at once; 2 KiB a revision. */
const WINDOW_EVENTS = 16_384;

/** The bits of the numbers above `eventSeq - WINDOW_EVENTS`, the lowest number first. */
export type EventWindow = Buffer;

/** Of all that `db` sees: of the snapshot that a revision is made from. */
export async function readEventWindow(db: Reader, eventSeq: number): Promise<EventWindow> {
  const window = Buffer.alloc(WINDOW_EVENTS / 8);
  for (const seq of await readSeqs(db, eventSeq)) {
    const { byte, bit } = placeOf(seq, eventSeq);
    window[byte] = (window[byte] ?? 0) | bit;
  }
  return window;
}

/** Numbers of events that are in the range of the window now, and were not when it was read: mostly none. */
export async function findLateEvents(db: Reader, eventSeq: number, window: EventWindow): Promise<number[]> {
  if ((await countWindowEvents(db, eventSeq)) === countBits(window)) return [];
  return (await readSeqs(db, eventSeq)).filter((seq) => {
    const { byte, bit } = placeOf(seq, eventSeq);
    return ((window[byte] ?? 0) & bit) === 0;
  });
}

/** How many events there are now in the range of a cut's window. */
export async function countWindowEvents(db: Reader, eventSeq: number): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('seq', '>', eventSeq - WINDOW_EVENTS)
    .where('seq', '<=', eventSeq)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** The same for a row of `reports`, inside of a statement. */
export const WINDOW_EVENT_COUNT = sql<number>`(SELECT COUNT(*) FROM events
  WHERE events.seq > reports.cut_event_seq - ${sql.lit(WINDOW_EVENTS)} AND events.seq <= reports.cut_event_seq)`;

export function countBits(window: EventWindow): number {
  let count = 0;
  for (const byte of window) for (let rest = byte; rest > 0; rest &= rest - 1) count++;
  return count;
}

async function readSeqs(db: Reader, eventSeq: number): Promise<number[]> {
  const rows = await db
    .selectFrom('events')
    .select('seq')
    .where('seq', '>', eventSeq - WINDOW_EVENTS)
    .where('seq', '<=', eventSeq)
    .execute();
  return rows.map((row) => row.seq);
}

function placeOf(seq: number, eventSeq: number): { byte: number; bit: number } {
  const index = seq - (eventSeq - WINDOW_EVENTS) - 1;
  return { byte: index >> 3, bit: 1 << (index & 7) };
}
