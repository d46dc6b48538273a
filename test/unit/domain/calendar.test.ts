import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, createCalendar, isDay, isWallTime, listDays } from '../../../src/domain/calendar.ts';
import { propertyOptions } from '../../support/property.ts';

const saoPaulo = createCalendar('America/Sao_Paulo');

describe('in São Paulo', () => {
  test('half past eleven at night is still its own day, though UTC is a day on', () => {
    const at = saoPaulo.toInstant('2026-11-20 23:30:00');
    expect(at.toISOString()).toBe('2026-11-21T02:30:00.000Z');
    expect(saoPaulo.dayOf(at)).toBe('2026-11-20');
    expect(saoPaulo.toIso('2026-11-20 23:30:00')).toBe('2026-11-20T23:30:00-03:00');
  });

  test('the offset is that of the date, summer time of the past included', () => {
    expect(saoPaulo.toIso('2018-02-17 12:00:00')).toBe('2018-02-17T12:00:00-02:00');
    expect(saoPaulo.toIso('2018-02-18 12:00:00')).toBe('2018-02-18T12:00:00-03:00');
    expect(saoPaulo.toIso('2018-11-03 12:00:00')).toBe('2018-11-03T12:00:00-03:00');
    expect(saoPaulo.toIso('2018-11-04 12:00:00')).toBe('2018-11-04T12:00:00-02:00');
  });

  test('an hour that is lived twice is read as the first time', () => {
    expect(saoPaulo.toInstant('2018-02-17 23:30:00').toISOString()).toBe('2018-02-18T01:30:00.000Z');
    expect(saoPaulo.toWallTime(new Date('2018-02-18T01:30:00Z'))).toBe('2018-02-17 23:30:00');
    expect(saoPaulo.toWallTime(new Date('2018-02-18T02:30:00Z'))).toBe('2018-02-17 23:30:00');
  });

  test('a day that begins at one in the morning begins there, and its skipped midnight is no earlier', () => {
    expect(saoPaulo.startOfDay('2018-11-04').toISOString()).toBe('2018-11-04T03:00:00.000Z');
    expect(saoPaulo.toInstant('2018-11-04 00:00:00').toISOString()).toBe('2018-11-04T03:00:00.000Z');
    expect(saoPaulo.toInstant('2018-11-04 00:30:00') > saoPaulo.toInstant('2018-11-03 23:59:59')).toBe(true);
    expect(saoPaulo.dayOf(saoPaulo.toInstant('2018-11-04 00:30:00'))).toBe('2018-11-04');
  });

  test('a fraction of a second falls to the second it is in, also before 1970', () => {
    expect(saoPaulo.toWallTime(new Date('2026-01-01T02:59:59.999Z'))).toBe('2025-12-31 23:59:59');
    expect(saoPaulo.toWallTime(new Date(-1))).toBe('1969-12-31 20:59:59');
  });
});

test.each([
  ['America/Sao_Paulo'],
  ['Europe/Lisbon'],
  ['Asia/Kolkata'],
  ['Australia/Lord_Howe'],
  ['America/St_Johns'],
  ['UTC'],
])('in %s a wall clock made from an instant leads back to a moment that shows it', (zone) => {
  const calendar = createCalendar(zone);
  const seconds = fc.integer({ min: Date.parse('2001-01-01') / 1000, max: Date.parse('2039-01-01') / 1000 });
  fc.assert(
    fc.property(seconds, (second) => {
      const at = new Date(second * 1000);
      const wall = calendar.toWallTime(at);
      const back = calendar.toInstant(wall);
      expect(calendar.toWallTime(back)).toBe(wall);
      // the earlier of two where the zone repeats the hour, never the later
      expect(back.getTime()).toBeLessThanOrEqual(at.getTime());
      expect(new Date(calendar.toIso(wall)).getTime()).toBe(back.getTime());
      expect(calendar.startOfDay(calendar.dayOf(at)).getTime()).toBeLessThanOrEqual(at.getTime());
    }),
    propertyOptions(30, 300),
  );
});

test('a zone that shifts by half an hour is right on both sides of the shift within one hour', () => {
  const lordHowe = createCalendar('Australia/Lord_Howe');
  expect(lordHowe.toIso('2026-10-04 01:59:59')).toBe('2026-10-04T01:59:59+10:30');
  expect(lordHowe.toIso('2026-10-04 02:45:00')).toBe('2026-10-04T02:45:00+11:00');
});

test('an unknown zone is refused at once', () => {
  expect(() => createCalendar('America/Nowhere')).toThrow(RangeError);
});

test('only a real moment of the form is a wall clock', () => {
  for (const text of ['2026-02-28 23:59:59', '2024-02-29 00:00:00']) expect(isWallTime(text)).toBe(true);
  const wrong = ['2026-02-29 00:00:00', '2026-01-01 24:00:00', '2026-01-01 23:59:60', '2026-13-01 00:00:00', '', '0'];
  const shaped = ['2026-01-01T00:00:00', '2026-01-01 00:00', '2026-01-01 00:00:00Z', ' 2026-01-01 00:00:00'];
  for (const text of [...wrong, ...shaped, '2026-01-01 00:00:00\n']) expect(isWallTime(text)).toBe(false);
  expect(isDay('2026-02-28')).toBe(true);
  expect(isDay('2026-02-30')).toBe(false);
});

// a day of the year 9999 had no next one: a list of days from it never ended
test('a day of another age is none, and no list of days is endless', () => {
  for (const text of ['0000-01-01', '0001-01-01', '1899-12-31', '3000-01-01', '9999-12-31'])
    expect(isDay(text)).toBe(false);
  expect(isDay('2999-12-31')).toBe(true);
  expect(addDays('9999-12-31', 1)).toBe('9999-12-31');
  expect(addDays('0000-01-01', -95)).toBe('0000-01-01');
  expect(listDays('9999-12-30', '9999-12-31')).toEqual(['9999-12-30', '9999-12-31']);
  // the provider may show one, which is booked and reported
  expect(isWallTime('9999-12-31 23:59:59')).toBe(true);
});

test('days are counted over months, leap days and years', () => {
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
  expect(listDays('2025-12-30', '2026-01-02')).toEqual(['2025-12-30', '2025-12-31', '2026-01-01', '2026-01-02']);
  expect(listDays('2026-01-02', '2026-01-01')).toEqual([]);
});
