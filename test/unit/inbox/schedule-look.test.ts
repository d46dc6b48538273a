import { expect, test } from 'vitest';
import { scheduleLook } from '../../../src/inbox/schedule-look.ts';

const RECEIVED = new Date('2026-11-20T12:00:00Z');
const GRACE_MS = 600_000;

test('looks come after 1, 3, 10, 30 s, 2 and 5 minutes, the last one when the grace ends', () => {
  const deadline = new Date(RECEIVED.getTime() + GRACE_MS);
  const looks: number[] = [];
  let now: Date | undefined = RECEIVED;
  for (let look = 1; now; look++) {
    looks.push((now.getTime() - RECEIVED.getTime()) / 1000);
    now = scheduleLook(look, now, deadline);
  }
  expect(looks).toEqual([0, 1, 4, 14, 44, 164, 464, 600]);
});

test('once the grace is over there is no further look', () => {
  expect(scheduleLook(1, RECEIVED, RECEIVED)).toBeUndefined();
  expect(scheduleLook(1, RECEIVED, new Date(RECEIVED.getTime() - 1))).toBeUndefined();
});

test('a grace that is longer than the schedule is looked through every five minutes', () => {
  const deadline = new Date(RECEIVED.getTime() + 86_400_000);
  expect(scheduleLook(50, RECEIVED, deadline)?.getTime()).toBe(RECEIVED.getTime() + 300_000);
});
