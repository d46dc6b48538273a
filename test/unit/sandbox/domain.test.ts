import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commissionOf, formatCents, parseCents } from '../../../sandbox/domain/money.ts';
import { createRandom, makeUuid } from '../../../sandbox/domain/random.ts';
import { isTransitionAllowed, STATUSES } from '../../../sandbox/domain/statuses.ts';
import { addDays, addSeconds, createWallClock, isDay, isWall } from '../../../sandbox/domain/wall-clock.ts';
import { propertyOptions } from '../../support/property.ts';

describe('money', () => {
  it('is read and written without loss', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), (cents) => {
        expect(parseCents(formatCents(cents))).toBe(cents);
      }),
      propertyOptions(30, 300),
    );
    expect(parseCents('10')).toBe(1000n);
    expect(parseCents('10.5')).toBe(1050n);
    expect(formatCents(-5n)).toBe('-0.05');
  });

  it('is refused with more decimals, a sign, an exponent, a comma or leading zeros', () => {
    for (const text of ['1.001', '-1', '+1', '1e2', '1,5', '01', '.5', '5.', '', ' 1', '1 ', 'NaN', '99999999999999']) {
      expect([text, parseCents(text)]).toEqual([text, null]);
    }
  });

  it('leaves a commission rounded half up, at least the minimum', () => {
    const rule = { basis_points: 99, fixed_cents: 0, minimum_cents: 1 };
    expect(commissionOf(10_000n, rule)).toBe(99n);
    expect(commissionOf(50n, rule)).toBe(1n);
    expect(commissionOf(5_000n, { ...rule, basis_points: 1 })).toBe(1n);
    expect(commissionOf(4_999n, { ...rule, basis_points: 1, minimum_cents: 0 })).toBe(0n);
    expect(commissionOf(7n, { basis_points: 0, fixed_cents: 100, minimum_cents: 0 })).toBe(100n);
  });
});

describe('random streams', () => {
  it('are the same for a seed, and different for each fork', () => {
    const draw = (seed: string) => Array.from({ length: 5 }, () => createRandom(seed).fork('a').next());
    expect(draw('1')).toEqual(draw('1'));
    expect(draw('1')).not.toEqual(draw('2'));
    const random = createRandom('1');
    random.next();
    expect(random.fork('a').next()).toBe(createRandom('1').fork('a').next());
  });

  it('makes version 4 UUIDs, none twice', () => {
    const random = createRandom('ids');
    const made = new Set(Array.from({ length: 20_000 }, () => makeUuid(random)));
    expect(made.size).toBe(20_000);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('are uniform: whole numbers reach both ends about as often as the rest', () => {
    const random = createRandom('even');
    const seen = new Map<number, number>();
    for (let i = 0; i < 6_000; i++) {
      const drawn = random.int(1, 6);
      seen.set(drawn, (seen.get(drawn) ?? 0) + 1);
    }
    expect(new Set(seen.keys())).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    for (const count of seen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });
});

describe('the wall clock', () => {
  it('is São Paulo three hours behind UTC, across midnight too', () => {
    const clock = createWallClock('America/Sao_Paulo');
    expect(clock.toWall(Date.parse('2026-11-21T02:30:00Z'))).toBe('2026-11-20 23:30:00');
    expect(clock.toInstant('2026-11-20 23:30:00')).toBe(Date.parse('2026-11-21T02:30:00Z'));
  });

  it('follows a zone through summer time, back and forth', () => {
    for (const zone of ['America/Sao_Paulo', 'America/New_York', 'Asia/Kolkata', 'UTC']) {
      const clock = createWallClock(zone);
      fc.assert(
        fc.property(fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2030, 0) }), (ms) => {
          const instant = Math.floor(ms / 1_000) * 1_000;
          const again = clock.toInstant(clock.toWall(instant));
          // the hour that is repeated in autumn has two instants
          expect([0, 3_600_000]).toContain(Math.abs(again - instant));
        }),
        propertyOptions(30, 300),
      );
    }
    expect(createWallClock('America/Sao_Paulo').toWall(Date.parse('2018-12-01T12:00:00Z'))).toBe('2018-12-01 10:00:00');
  });

  it('knows the calendar', () => {
    expect(addSeconds('2026-12-31 23:59:59', 1)).toBe('2027-01-01 00:00:00');
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
    expect(['2028-02-29', '2026-02-29', '2026-13-01', '26-01-01', '2026-1-1'].map(isDay)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(['2026-01-01 24:00:00', '2026-01-01 23:59:59', '2026-01-01T00:00:00'].map(isWall)).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe('statuses', () => {
  it('end once, except that a paid one can be refunded', () => {
    for (const from of ['denied', 'canceled', 'expired', 'refund']) {
      for (const to of STATUSES) expect([from, to, isTransitionAllowed(from, to)]).toEqual([from, to, false]);
    }
    expect(STATUSES.filter((to) => isTransitionAllowed('paid', to))).toEqual(['refund']);
    expect(STATUSES.filter((to) => isTransitionAllowed('pending', to))).toEqual([
      'paid',
      'denied',
      'canceled',
      'in_process',
      'in_analysis',
      'expired',
    ]);
  });
});
