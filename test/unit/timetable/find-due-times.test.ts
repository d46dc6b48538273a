import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findDueTimes, findNextDue } from '../../../src/timetable/find-due-times.ts';
import { propertyOptions } from '../../support/property.ts';

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

const HOUR_MS = 3_600_000;
const SANTIAGO = 'America/Santiago';
const HAVANA = 'America/Havana';

/** All due times between two instants, as a process that runs for all this time finds them. */
function listDue(cron: string, zone: string, from: string, until: string): string[] {
  const due: string[] = [];
  for (let at = findNextDue(cron, zone, new Date(from)); at < new Date(until); at = findNextDue(cron, zone, at))
    due.push(at.toISOString().slice(0, 16));
  return due;
}

test.each([
  ['00:00 goes back to 23:00', ZONE, '30 0 * * *', '2018-02-17', ['2018-02-17T02:30', '2018-02-18T03:30']],
  ['00:00 goes back to 23:00', ZONE, '0 0 * * *', '2018-02-17', ['2018-02-17T02:00', '2018-02-18T03:00']],
  ['the repeated hour itself', ZONE, '30 23 * * *', '2018-02-17', ['2018-02-17T01:30', '2018-02-18T01:30']],
  ['00:00 goes back to 23:00', SANTIAGO, '30 0 * * *', '2026-04-04', ['2026-04-04T03:30', '2026-04-05T04:30']],
  ['00:00 goes back to 23:00', SANTIAGO, '0 0 * * *', '2026-04-04', ['2026-04-04T03:00', '2026-04-05T04:00']],
  ['01:00 goes back to 00:00', HAVANA, '30 0 * * *', '2026-11-01', ['2026-11-01T04:30', '2026-11-02T05:30']],
  ['01:00 goes back to 00:00', HAVANA, '0 1 * * *', '2026-11-01', ['2026-11-01T06:00', '2026-11-02T06:00']],
  ['00:00 goes on to 01:00', ZONE, '30 0 * * *', '2017-10-14', ['2017-10-14T03:30', '2017-10-15T03:00']],
  ['00:00 goes on to 01:00', ZONE, '0,30 0,1 * * *', '2017-10-15', ['2017-10-15T03:00', '2017-10-15T03:30']],
])('where %s in %s, %s is due once a day, on the new day', (_, zone, cron, day, due) => {
  const from = `${day}T01:00:00Z`;
  const until = new Date(Date.parse(from) + (cron.includes(',') ? 12 : 40) * HOUR_MS).toISOString();
  expect(listDue(cron, zone, from, until)).toEqual(due);
});

test.each([
  ['0 * * * *', '2018-02-18', ['T00:00', 'T01:00', 'T02:00', 'T03:00', 'T04:00']],
  [
    '*/30 * * * *',
    '2018-02-18',
    ['T00:00', 'T00:30', 'T01:00', 'T01:30', 'T02:00', 'T02:30', 'T03:00', 'T03:30', 'T04:00'],
  ],
  ['0 * * * *', '2017-10-15', ['T00:00', 'T01:00', 'T02:00', 'T03:00', 'T04:00']],
])('%s is due each hour that elapses on %s, when the clock is changed', (cron, day, due) => {
  const found = listDue(cron, ZONE, new Date(Date.parse(`${day}T00:00:00Z`) - 1).toISOString(), `${day}T04:01:00Z`);
  expect(found).toEqual(due.map((time) => `${day}${time}`));
});

const fields = fc.constantFrom(
  '30 0 * * *',
  '0 0 * * *',
  '45 23 * * *',
  '0 1 * * *',
  '*/7 * * * *',
  '5,50 0-2 * * *',
  '0 3 * * 0',
);
const zones = fc.constantFrom(ZONE, SANTIAGO, HAVANA, 'Australia/Lord_Howe', 'Europe/Lisbon', 'UTC');

test('due times of any instant agree: one process or another, one search or step after step', () => {
  fc.assert(
    fc.property(
      fields,
      zones,
      fc.integer({ min: 0, max: 20 * 366 * 24 * 60 }),
      fc.nat(59_999),
      (cron, zone, minute, ms) => {
        const now = new Date(Date.parse('2010-01-01T00:00:00Z') + minute * 60_000 + ms);
        const { newest, next } = findDueTimes(cron, zone, now);
        if (newest === undefined) throw new Error('none');
        expect(newest <= now && now < next).toBe(true);
        expect(findNextDue(cron, zone, newest)).toEqual(next);
        // an instant in between leads to the same one
        expect(findNextDue(cron, zone, new Date((newest.getTime() + next.getTime()) / 2))).toEqual(next);
      },
    ),
    propertyOptions(100, 3_000),
  );
});
