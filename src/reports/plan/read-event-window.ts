/**
 * A revision stores one bit for each of the newest event numbers up to its cut: set if the event was committed by then. An
 * event gets its number before its commit, and on another node of a cluster the commit may follow the cut. The seal finds
 * a late event that has entries (read-cut-entries.ts). An event that moves no money is in no seal: its bit leaves it out
 * when the file is rebuilt from the cut.
 */
import type { Reader } from '../../database/reader.ts';

/** Far more events than are uncommitted at a time; 2 KiB a revision. */
export const WINDOW_EVENTS = 16_384;

/** The bits of the numbers above `eventSeq - WINDOW_EVENTS`, lowest first. */
export type EventWindow = Buffer;

/** @param db the snapshot of the revision's rows. */
export async function readEventWindow(db: Reader, eventSeq: number): Promise<EventWindow> {
  const window = Buffer.alloc(WINDOW_EVENTS / 8);
  for (const seq of await readSeqs(db, eventSeq)) {
    const { byte, bit } = positionOf(seq, eventSeq);
    window[byte] = (window[byte] ?? 0) | bit;
  }
  return window;
}

/** Numbers of events in the window's range that were committed after it was read: mostly none. */
export async function findLateEvents(db: Reader, eventSeq: number, window: EventWindow): Promise<number[]> {
  if ((await countWindowEvents(db, eventSeq)) === countBits(window)) return [];
  return (await readSeqs(db, eventSeq)).filter((seq) => {
    const { byte, bit } = positionOf(seq, eventSeq);
    return ((window[byte] ?? 0) & bit) === 0;
  });
}

/** Counts the present events in the range of a cut's window. */
export async function countWindowEvents(db: Reader, eventSeq: number): Promise<number> {
  const count = await selectWindow(db, eventSeq)
    .select((eb) => eb.fn.countAll<number>().as('events'))
    .executeTakeFirstOrThrow();
  return Number(count.events);
}

export function countBits(window: EventWindow): number {
  let count = 0;
  for (const byte of window) for (let rest = byte; rest > 0; rest &= rest - 1) count++;
  return count;
}

async function readSeqs(db: Reader, eventSeq: number): Promise<number[]> {
  const rows = await selectWindow(db, eventSeq).select('seq').execute();
  return rows.map((row) => row.seq);
}

function selectWindow(db: Reader, eventSeq: number) {
  return db
    .selectFrom('events')
    .where('seq', '>', eventSeq - WINDOW_EVENTS)
    .where('seq', '<=', eventSeq);
}

function positionOf(seq: number, eventSeq: number): { byte: number; bit: number } {
  const index = seq - (eventSeq - WINDOW_EVENTS) - 1;
  return { byte: index >> 3, bit: 1 << (index & 7) };
}
