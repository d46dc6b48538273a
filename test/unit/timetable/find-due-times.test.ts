import { expect, test } from 'vitest';
import { findDueTimes, findNextDue } from '../../../src/timetable/find-due-times.ts';

const ZONE = 'America/Sao_Paulo';

test.each([
  // a Sunday
  ['* * * * *', '2026-11-22T12:34:56.789Z', '2026-11-22T12:34:00Z', '2026-11-22T12:35:00Z'],
  ['* * * * *', '2026-11-22T12:34:00Z', '2026-11-22T12:34:00Z', '2026-11-22T12:35:00Z'],
  ['* * * * * *', '2026-11-22T12:34:56.789Z', '2026-11-22T12:34:56Z', '2026-11-22T12:34:57Z'],
  ['*/5 * * * *', '2026-11-22T12:34:56Z', '2026-11-22T12:30:00Z', '2026-11-22T12:35:00Z'],
  ['7 * * * *', '2026-11-22T12:06:59Z', '2026-11-22T11:07:00Z', '2026-11-22T12:07:00Z'],
  ['0 6 * * *', '2026-11-22T08:59:59Z', '2026-11-21T09:00:00Z', '2026-11-22T09:00:00Z'],
  ['0 6 * * *', '2026-11-22T09:00:00Z', '2026-11-22T09:00:00Z', '2026-11-23T09:00:00Z'],
  ['40 3 * * 0', '2026-11-22T06:39:00Z', '2026-11-15T06:40:00Z', '2026-11-22T06:40:00Z'],
  ['0 6 * * 1-5', '2026-11-22T12:00:00Z', '2026-11-20T09:00:00Z', '2026-11-23T09:00:00Z'],
  ['0 0 1 1 *', '2026-11-22T12:00:00Z', '2026-01-01T03:00:00Z', '2027-01-01T03:00:00Z'],
])('%s at %s was due at %s and is due at %s', (cron, now, newest, next) => {
  expect(findDueTimes(cron, ZONE, new Date(now))).toMatchObject({ newest: new Date(newest), next: new Date(next) });
  expect(findNextDue(cron, ZONE, new Date(newest))).toEqual(new Date(next));
});

test('a due time more than a year ago is none', () => {
  expect(findDueTimes('0 0 29 2 *', ZONE, new Date('2026-11-22T12:00:00Z')).newest).toBeUndefined();
});

test('the due times are right from minute to minute, after a gap, and back again', () => {
  const FIVE_MINUTES = 5 * 60_000;
  const start = Date.parse('2026-11-22T23:40:00Z');
  const minutes = [...Array.from({ length: 12 }, (_, minute) => minute), 29, 30, 35, 3, 90];
  for (const minute of minutes) {
    const now = start + minute * 60_000;
    const newest = Math.floor(now / FIVE_MINUTES) * FIVE_MINUTES;
    const due = { newest: new Date(newest), next: new Date(newest + FIVE_MINUTES) };
    expect(findDueTimes('*/5 * * * *', ZONE, new Date(now))).toMatchObject(due);
  }
});
