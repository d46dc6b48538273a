import { expect, test } from 'vitest';
import { scheduleFetch } from '../../../src/inbox/verify/classify-item.ts';

const RECEIVED = new Date('2026-11-20T12:00:00Z');
const GRACE_MS = 600_000;

test('fetches follow after 1, 3, 10, 30 s, 2 and 5 minutes, the last one when the grace ends', () => {
  const times: number[] = [];
  let now: Date | undefined = RECEIVED;
  for (let fetches = 1; now; fetches++) {
    times.push((now.getTime() - RECEIVED.getTime()) / 1000);
    now = scheduleFetch(fetches, now, RECEIVED, GRACE_MS);
  }
  expect(times).toEqual([0, 1, 4, 14, 44, 164, 464, 600]);
});

test('after the grace and all fetches there is no further one', () => {
  expect(scheduleFetch(1, RECEIVED, RECEIVED, 0)).toBeUndefined();
  expect(scheduleFetch(8, new Date(RECEIVED.getTime() + GRACE_MS), RECEIVED, GRACE_MS)).toBeUndefined();
});

test('after an outage longer than the grace the first fetch is not the last: as many follow, at most 30 s apart', () => {
  const first = RECEIVED.getTime() + 6 * GRACE_MS;
  const times: number[] = [];
  let now: Date | undefined = new Date(first);
  for (let fetches = 1; now; fetches++) {
    times.push((now.getTime() - first) / 1000);
    now = scheduleFetch(fetches, now, RECEIVED, GRACE_MS);
  }
  expect(times).toEqual([0, 1, 4, 14, 44, 74, 104, 134]);
});

test('a grace longer than the schedule has a fetch every five minutes', () => {
  expect(scheduleFetch(50, RECEIVED, RECEIVED, 86_400_000)?.getTime()).toBe(RECEIVED.getTime() + 300_000);
});

test('the last fetch comes within a minute of the end of any grace, though answers are slow', () => {
  for (const graceMs of [0, 1_000, 45_000, 165_000, 600_000, 3_600_000]) {
    let now: Date | undefined = RECEIVED;
    let last = now;
    for (let fetches = 1; now; fetches++) {
      last = now;
      now = scheduleFetch(fetches, new Date(now.getTime() + 900), RECEIVED, graceMs);
    }
    const late = last.getTime() - RECEIVED.getTime() - graceMs;
    expect(late, `${graceMs} ms`).toBeGreaterThanOrEqual(0);
    expect(late, `${graceMs} ms`).toBeLessThanOrEqual(60_000);
  }
});
