import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCalendar } from '../../../src/domain/calendar.ts';
import { checkZone, type ZoneSample } from '../../../src/reconciliation/watches/check-zone.ts';
import { propertyOptions } from '../../support/property.ts';

const ZONES = ['America/Sao_Paulo', 'America/Manaus', 'America/Rio_Branco', 'America/Noronha', 'UTC'];
const START = Date.parse('2026-03-01T12:00:00Z');

/** Payments of a provider whose clock runs in a zone, each reported this many seconds after the minute inside its id. */
function paymentsOf(zone: string, lateS: number[]): ZoneSample[] {
  const calendar = createCalendar(zone);
  return lateS.map((late, index) => {
    const minute = new Date(START + index * 60_000);
    return { minute, wall: calendar.toWallTime(new Date(minute.getTime() + late * 1000)) };
  });
}

test('of every two zones, the wrong one differs and the right one is named; the right one fits', () => {
  for (const theirs of ZONES) {
    const payments = paymentsOf(theirs, new Array(200).fill(20));
    for (const ours of ZONES) {
      const verdict = checkZone(ours, payments);
      if (ours === theirs) expect(verdict).toEqual({ state: 'fits' });
      else expect(verdict).toMatchObject({ state: 'differs', zone: theirs });
    }
  }
});

test('payments that are reported hours late, or have an id of another time, do not change the result', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1700 }), { minLength: 101, maxLength: 110 }),
      fc.array(fc.integer({ min: -200_000, max: 200_000 }), { maxLength: 90 }),
      (usual, odd) => {
        const payments = paymentsOf('America/Sao_Paulo', [...usual, ...odd]);
        expect(checkZone('America/Sao_Paulo', payments)).toEqual({ state: 'fits' });
        expect(checkZone('America/Manaus', payments).state).toBe('differs');
      },
    ),
    propertyOptions(5, 100),
  );
});

test('a median of 30 minutes is off, of a second less is not', () => {
  expect(checkZone('UTC', paymentsOf('UTC', new Array(50).fill(1800)))).toMatchObject({
    state: 'differs',
    medianMs: 1_800_000,
  });
  expect(checkZone('UTC', paymentsOf('UTC', new Array(50).fill(1799)))).toEqual({ state: 'fits' });
});

test('a clock outside the zones of Brazil gives its offset; a few payments give no result', () => {
  expect(checkZone('UTC', paymentsOf('Asia/Tokyo', new Array(50).fill(0)))).toEqual({
    ...{ state: 'differs', medianMs: 9 * 3_600_000, offsetMs: 9 * 3_600_000, zone: undefined },
  });
  expect(checkZone('UTC', paymentsOf('Asia/Tokyo', new Array(19).fill(0)))).toEqual({ state: 'unknown' });
});
