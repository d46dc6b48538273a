import { expect, test } from 'vitest';
import { scheduleFetch } from '../../../src/inbox/verify/schedule-fetch.ts';

const RECEIVED = new Date('2026-11-20T12:00:00Z');
const GRACE_MS = 600_000;

test('looks come after 1, 3, 10, 30 s, 2 and 5 minutes, the last one when the grace ends', () => {
  const looks: number[] = [];
  let now: Date | undefined = RECEIVED;
  for (let look = 1; now; look++) {
    looks.push((now.getTime() - RECEIVED.getTime()) / 1000);
    now = scheduleFetch(look, now, RECEIVED, GRACE_MS);
  }
  expect(looks).toEqual([0, 1, 4, 14, 44, 164, 464, 600]);
});

test('once the grace is over and the looks were made there is no further one', () => {
  expect(scheduleFetch(1, RECEIVED, RECEIVED, 0)).toBeUndefined();
  expect(scheduleFetch(8, new Date(RECEIVED.getTime() + GRACE_MS), RECEIVED, GRACE_MS)).toBeUndefined();
});

test('after an outage longer than the grace the first look is not the last: as many come, at most 30 s apart', () => {
  const first = RECEIVED.getTime() + 6 * GRACE_MS;
  const looks: number[] = [];
  let now: Date | undefined = new Date(first);
  for (let look = 1; now; look++) {
    looks.push((now.getTime() - first) / 1000);
    now = scheduleFetch(look, now, RECEIVED, GRACE_MS);
  }
  expect(looks).toEqual([0, 1, 4, 14, 44, 74, 104, 134]);
});

test('a grace that is longer than the schedule is looked through every five minutes', () => {
  expect(scheduleFetch(50, RECEIVED, RECEIVED, 86_400_000)?.getTime()).toBe(RECEIVED.getTime() + 300_000);
});

test('the last look comes within a minute of the end of any grace, though answers are slow', () => {
  for (const graceMs of [0, 1_000, 45_000, 165_000, 600_000, 3_600_000]) {
    let now: Date | undefined = RECEIVED;
    let last = now;
    for (let look = 1; now; look++) {
      last = now;
      now = scheduleFetch(look, new Date(now.getTime() + 900), RECEIVED, graceMs);
    }
    const late = last.getTime() - RECEIVED.getTime() - graceMs;
    expect(late, `${graceMs} ms`).toBeGreaterThanOrEqual(0);
    expect(late, `${graceMs} ms`).toBeLessThanOrEqual(60_000);
  }
});
