/**
 * Detects whether webhooks may have been missed. Pure.
 *
 * Receivers write a row for each minute in which one was alive, with the newest arrival. In minutes without a
 * row the receiver was *down*. While it was up, the limit of a *silence* follows from the account's own rhythm: FACTOR
 * times the longest pause between arrivals of the last three weeks. The very longest pause is left out, so that one outage
 * does not raise the limit; a quiet night or weekend recurs and stays in. An account with three payments a day, at most 14
 * hours apart, is silent after 28 hours; one that never pauses for a minute, after FLOOR_MS. Until a whole week was
 * observed, weekends are unknown, and the floor is YOUNG_FLOOR_MS.
 */
import { HOUR_MS, MINUTE_MS } from '../../domain/calendar.ts';

/** Covers two complete weekends on any day: one of them may be the longest pause, which is left out. */
export const MINUTES_RETENTION_DAYS = 22;
/** A shorter gap is a restart or a late row. */
export const DOWN_AFTER_MS = 3 * MINUTE_MS;
const FACTOR = 2;
const FLOOR_MS = HOUR_MS;
const YOUNG_FLOOR_MS = 26 * HOUR_MS;
const YOUNG_MS = 8 * 24 * HOUR_MS;
/** With fewer pauses there is no limit yet. */
const PAUSES_MIN = 5;

/** A minute in which a receiver was alive; oldest first in a list. */
export type ReceiverMinute = { minute: Date; lastArrivalAt: Date | null };
export type Gap = { from: Date; to: Date };

export type Silence = {
  /** The newest arrival; undefined before the first. */
  since: Date | undefined;
  /** The longest usual silence; undefined while too little is known. */
  limitMs: number | undefined;
  /** `down`: no receiver is alive now. `quiet`: one is, and nothing arrived for longer than `limitMs`. */
  state: 'well' | 'quiet' | 'down';
};

export function detectSilence(minutes: ReceiverMinute[], lastArrivalAt: Date | null, now: Date): Silence {
  const limitMs = limitOf(minutes);
  const since = lastArrivalAt ?? undefined;
  const last = minutes.at(-1);
  if (!last) return { since, limitMs, state: 'well' };
  if (now.getTime() - last.minute.getTime() > DOWN_AFTER_MS + MINUTE_MS) return { since, limitMs, state: 'down' };
  // after an outage, the silence is measured from the return of the receiver
  const back = findDownGaps(minutes, new Date(0)).at(-1)?.to;
  const sinceMs = Math.max(since?.getTime() ?? 0, back?.getTime() ?? 0);
  const quiet = since !== undefined && limitMs !== undefined && now.getTime() - sinceMs > limitMs;
  return { since, limitMs, state: quiet ? 'quiet' : 'well' };
}

/** @returns the gaps without a live receiver that ended after an instant. */
export function findDownGaps(minutes: ReceiverMinute[], after: Date): Gap[] {
  return minutes.flatMap((current, index) => {
    const before = minutes[index - 1];
    if (!before || current.minute <= after || !isDown(before, current)) return [];
    return [{ from: before.minute, to: current.minute }];
  });
}

function limitOf(minutes: ReceiverMinute[]): number | undefined {
  const pauses = listPauses(minutes).sort((a, b) => b - a);
  const [longest, usual = longest] = pauses;
  if (longest === undefined || usual === undefined || pauses.length < PAUSES_MIN) return undefined;
  const [first, last] = [minutes[0], minutes.at(-1)];
  const knownMs = first && last ? last.minute.getTime() - first.minute.getTime() : 0;
  return Math.max(FACTOR * usual, knownMs < YOUNG_MS ? YOUNG_FLOOR_MS : FLOOR_MS);
}

/** Pauses between arrivals, by the minute, without those in which the receiver was down. */
function listPauses(minutes: ReceiverMinute[]): number[] {
  const pauses: number[] = [];
  let arrival: Date | undefined;
  let broken = false;
  for (const [index, current] of minutes.entries()) {
    const before = minutes[index - 1];
    if (before && isDown(before, current)) broken = true;
    const next = current.lastArrivalAt;
    if (next === null || next.getTime() <= (arrival?.getTime() ?? Number.NEGATIVE_INFINITY)) continue;
    if (arrival && !broken) pauses.push(next.getTime() - arrival.getTime());
    arrival = next;
    broken = false;
  }
  return pauses;
}

function isDown(before: ReceiverMinute, current: ReceiverMinute): boolean {
  return current.minute.getTime() - before.minute.getTime() > DOWN_AFTER_MS;
}
