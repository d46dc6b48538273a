import { describe, expect, it } from 'vitest';
import { detectSilence, findDownGaps, type ReceiverMinute } from '../../../src/inbox/silence/detect-silence.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-11-01T00:00:00Z');

/** A row for each minute of these days, with arrivals at these times since the start. */
function minutesOf(days: number, arrivalsMs: number[]): ReceiverMinute[] {
  const sorted = arrivalsMs.toSorted((a, b) => a - b);
  let next = 0;
  let last: Date | null = null;
  return Array.from({ length: days * 24 * 60 }, (_, index) => {
    const atMs = index * MINUTE_MS;
    while (next < sorted.length && (sorted[next] ?? 0) <= atMs) last = new Date(START + (sorted[next++] ?? 0));
    return { minute: new Date(START + atMs), lastArrivalAt: last };
  });
}

/** The state `laterMs` after the last of the minutes, which continue without an arrival. */
function detectLater(minutes: ReceiverMinute[], laterMs: number) {
  const last = minutes.at(-1);
  const endMs = last?.minute.getTime() ?? START;
  const more = Array.from({ length: Math.floor(laterMs / MINUTE_MS) }, (_, index) => ({
    minute: new Date(endMs + (index + 1) * MINUTE_MS),
    lastArrivalAt: last?.lastArrivalAt ?? null,
  }));
  return detectSilence([...minutes, ...more], last?.lastArrivalAt ?? null, new Date(endMs + laterMs));
}

function everyMs(stepMs: number, days: number, counts: (atMs: number) => boolean = () => true): number[] {
  return Array.from({ length: Math.floor((days * DAY_MS) / stepMs) }, (_, index) => index * stepMs).filter(counts);
}

const isDaytime = (atMs: number): boolean => atMs % DAY_MS >= 7 * HOUR_MS && atMs % DAY_MS < 22 * HOUR_MS;
const isWeekday = (atMs: number): boolean => Math.floor(atMs / DAY_MS) % 7 < 5;

describe('a silence', () => {
  it('is none on a quiet night', () => {
    const minutes = minutesOf(14, everyMs(MINUTE_MS, 14, isDaytime));
    // the last arrival was at 21:59 of the last day, the last row at 23:59
    expect(detectLater(minutes, 8 * HOUR_MS).state).toBe('well');
    expect(detectLater(minutes, 20 * HOUR_MS).state).toBe('quiet');
  });

  it('is none on a weekend that comes every week', () => {
    const minutes = minutesOf(
      21,
      everyMs(5 * MINUTE_MS, 21, (atMs) => isDaytime(atMs) && isWeekday(atMs)),
    );
    expect(detectLater(minutes, 9 * HOUR_MS).state).toBe('well');
  });

  it('is none between three payments a day', () => {
    const minutes = minutesOf(
      14,
      everyMs(DAY_MS, 14).flatMap((day) => [8, 12, 18].map((hour) => day + hour * HOUR_MS)),
    );
    expect(detectLater(minutes, 14 * HOUR_MS).state).toBe('well');
    expect(detectLater(minutes, 36 * HOUR_MS).state).toBe('quiet');
  });

  it('is detected after an hour if webhooks always arrive', () => {
    const minutes = minutesOf(10, everyMs(MINUTE_MS, 10));
    expect(detectLater(minutes, 59 * MINUTE_MS).state).toBe('well');
    expect(detectLater(minutes, 62 * MINUTE_MS)).toMatchObject({ state: 'quiet', limitMs: HOUR_MS });
  });

  it('does not become usual by one outage', () => {
    const isOut = (atMs: number): boolean => atMs >= 5 * DAY_MS && atMs < 7 * DAY_MS;
    const minutes = minutesOf(
      14,
      everyMs(MINUTE_MS, 14, (atMs) => !isOut(atMs)),
    );
    expect(detectLater(minutes, 2 * HOUR_MS).state).toBe('quiet');
  });

  it('has no limit before a rhythm is known, and a high one before a week was observed', () => {
    expect(detectLater(minutesOf(9, [HOUR_MS, 2 * HOUR_MS]), 5 * DAY_MS)).toMatchObject({
      limitMs: undefined,
      state: 'well',
    });
    expect(detectLater([], DAY_MS).state).toBe('well');
    const young = minutesOf(1, everyMs(MINUTE_MS, 1));
    expect(detectLater(young, 25 * HOUR_MS).state).toBe('well');
    expect(detectLater(young, 27 * HOUR_MS).state).toBe('quiet');
  });
});

describe('a receiver', () => {
  const minutes = minutesOf(2, everyMs(MINUTE_MS, 2));
  const without = (fromMs: number, toMs: number): ReceiverMinute[] =>
    minutes.filter(({ minute }) => minute.getTime() - START <= fromMs || minute.getTime() - START >= toMs);

  it('was down in minutes without a row, until they were checked', () => {
    const gaps = findDownGaps(without(HOUR_MS, 9 * HOUR_MS), new Date(0));
    expect(gaps).toEqual([{ from: new Date(START + HOUR_MS), to: new Date(START + 9 * HOUR_MS) }]);
    expect(findDownGaps(without(HOUR_MS, 9 * HOUR_MS), new Date(START + 9 * HOUR_MS))).toEqual([]);
  });

  it('was not down for a restart or a late beat', () => {
    expect(findDownGaps(without(HOUR_MS, HOUR_MS + 3 * MINUTE_MS), new Date(0))).toEqual([]);
  });

  it('is down now when it stopped to beat', () => {
    const last = minutes.at(-1);
    const now = new Date((last?.minute.getTime() ?? 0) + 6 * MINUTE_MS);
    expect(detectSilence(minutes, last?.lastArrivalAt ?? null, now).state).toBe('down');
  });

  it('does not teach by the time in which it was down how long a silence is usual', () => {
    const down = minutesOf(12, everyMs(MINUTE_MS, 12)).filter(({ minute }) => {
      const hour = (minute.getTime() - START) % DAY_MS;
      return hour < 2 * HOUR_MS || hour > 20 * HOUR_MS;
    });
    expect(detectLater(down, 62 * MINUTE_MS).state).toBe('quiet');
  });
});
