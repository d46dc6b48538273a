/**
 * Whether webhooks may have been missed. Pure.
 *
 * Receivers write a row for each minute in which one was alive, with the newest arrival as of then. Minutes without a
 * row are time in which nobody could take a webhook in: the receiver was *down*. While it was up, *silence* is judged by
 * the account's own rhythm: the longest pauses between arrivals of the last three weeks. The very longest is left out, so
 * that one outage does not teach that such a silence is usual; a quiet night or weekend comes again and stays in. What
 * is FACTOR times as long is no quiet night any more. An account with three payments a day, 14 hours apart at the most,
 * is silent after 28 hours; one that never pauses for a minute, after FLOOR_MS. Until a whole week was seen, nobody
 * knows what a weekend looks like, and the floor is YOUNG_FLOOR_MS.
 */
export const MINUTE_MS = 60_000;
/** Two weekends that are over, whatever day it is: one of them may be the longest pause, which is left out. */
export const HEARTBEAT_RETENTION_DAYS = 22;
/** A restart or one beat that was late is no gap. */
export const DOWN_AFTER_MS = 3 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const FACTOR = 2;
const FLOOR_MS = HOUR_MS;
const YOUNG_FLOOR_MS = 26 * HOUR_MS;
const YOUNG_MS = 8 * 24 * HOUR_MS;
/** Fewer pauses say nothing of a rhythm. */
const PAUSES_MIN = 5;

/** A minute in which a receiver was alive; oldest first in a list. */
export type Heartbeat = { minute: Date; lastArrivalAt: Date | null };
export type Gap = { from: Date; to: Date };

export type Silence = {
  /** Since when nothing came; undefined while nothing ever did. */
  since: Date | undefined;
  /** How long a silence is usual; undefined while too little is known. */
  limitMs: number | undefined;
  /** `down`: no receiver is alive now. `quiet`: one is, and nothing came for longer than is usual. */
  state: 'well' | 'quiet' | 'down';
};

export function detectSilence(beats: Heartbeat[], lastArrivalAt: Date | null, now: Date): Silence {
  const limitMs = limitOf(beats);
  const since = lastArrivalAt ?? undefined;
  const lastBeat = beats.at(-1);
  if (!lastBeat) return { since, limitMs, state: 'well' };
  if (now.getTime() - lastBeat.minute.getTime() > DOWN_AFTER_MS + MINUTE_MS) return { since, limitMs, state: 'down' };
  // a receiver that is back has to be given the time in which something usually comes
  const back = findDownGaps(beats, new Date(0)).at(-1)?.to;
  const sinceMs = Math.max(since?.getTime() ?? 0, back?.getTime() ?? 0);
  const quiet = since !== undefined && limitMs !== undefined && now.getTime() - sinceMs > limitMs;
  return { since, limitMs, state: quiet ? 'quiet' : 'well' };
}

/** The time between beats in which no receiver was alive, where it ended after an instant. */
export function findDownGaps(beats: Heartbeat[], after: Date): Gap[] {
  return beats.flatMap((beat, index) => {
    const before = beats[index - 1];
    if (!before || beat.minute <= after || !isDown(before, beat)) return [];
    return [{ from: before.minute, to: beat.minute }];
  });
}

function limitOf(beats: Heartbeat[]): number | undefined {
  const pauses = listPauses(beats).sort((a, b) => b - a);
  const [longest, usual = longest] = pauses;
  if (longest === undefined || usual === undefined || pauses.length < PAUSES_MIN) return undefined;
  const [first, last] = [beats[0], beats.at(-1)];
  const knownMs = first && last ? last.minute.getTime() - first.minute.getTime() : 0;
  return Math.max(FACTOR * usual, knownMs < YOUNG_MS ? YOUNG_FLOOR_MS : FLOOR_MS);
}

/** Between arrivals, by the minute; a pause in which the receiver was down is none of the account's. */
function listPauses(beats: Heartbeat[]): number[] {
  const pauses: number[] = [];
  let arrival: Date | undefined;
  let broken = false;
  for (const [index, beat] of beats.entries()) {
    const before = beats[index - 1];
    if (before && isDown(before, beat)) broken = true;
    const next = beat.lastArrivalAt;
    if (next === null || next.getTime() <= (arrival?.getTime() ?? Number.NEGATIVE_INFINITY)) continue;
    if (arrival && !broken) pauses.push(next.getTime() - arrival.getTime());
    arrival = next;
    broken = false;
  }
  return pauses;
}

function isDown(before: Heartbeat, beat: Heartbeat): boolean {
  return beat.minute.getTime() - before.minute.getTime() > DOWN_AFTER_MS;
}
