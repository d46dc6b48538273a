import { describe, expect, it } from 'vitest';
import {
  BODY_MISSES_MAX,
  chooseBestPlan,
  FIRST_IDS,
  KNOWN_SHOWS_PER_MINUTE,
  planShow,
  type ShowCandidate,
} from '../../../src/inbox/receive/plan-shows.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);

const candidate = (more: Partial<ShowCandidate> = {}): ShowCandidate => ({
  ...{ position: 0, misses: 0, granted: false, receivedAt: NOW, bodyMisses: 0, fetchedAt: null, itemsInWebhook: 1 },
  ...{ asksProvider: true, isKnown: false, hadHit: false },
  ...more,
});

describe('a show', () => {
  it.each<[string, Partial<ShowCandidate>, string]>([
    ['the first of an id is free where its sender had a hit', { hadHit: true }, 'show'],
    ['the first of an id is paid for where it had none', {}, 'charge'],
    ['of the tenth id goes as the first', { position: FIRST_IDS - 1, hadHit: true }, 'show'],
    ['of the eleventh id waits for the list', { position: FIRST_IDS, hadHit: true }, 'list'],
    ['a further one is paid for, hit or not', { misses: 1, bodyMisses: 1, hadHit: true }, 'charge'],
    ['a further one beyond the misses of a body waits', { misses: 1, bodyMisses: BODY_MISSES_MAX }, 'list'],
    ['of what the ledger knows is free', { isKnown: true, misses: 3, bodyMisses: BODY_MISSES_MAX }, 'show'],
    ['that a person asked for is free', { granted: true, position: 500, misses: 3 }, 'show'],
    ['of an extra asks nobody', { asksProvider: false }, 'show'],
    ['of an extra beyond the first waits for the list', { asksProvider: false, position: 500 }, 'list'],
  ])('%s', (_, more, kind) => {
    expect(planShow(candidate(more), NOW).kind).toBe(kind);
  });

  it('of known ids beyond the first goes some a minute, in the order of the body', () => {
    const at = (position: number, now: Date) => planShow(candidate({ position, isKnown: true }), now);
    expect(at(FIRST_IDS, NOW)).toEqual({ kind: 'list', notBefore: later(1) });
    expect(at(FIRST_IDS, later(1))).toEqual({ kind: 'show' });
    expect(at(FIRST_IDS + KNOWN_SHOWS_PER_MINUTE, later(1))).toEqual({ kind: 'list', notBefore: later(2) });
  });
});

describe('known ids beyond the first take turns', () => {
  const SIBLINGS = 1_000;
  const TURNS = (SIBLINGS - FIRST_IDS) / KNOWN_SHOWS_PER_MINUTE;

  it('however often they are due: KNOWN_SHOWS_PER_MINUTE a minute at most, and each has its turn', () => {
    const fetchedAt = new Map<number, Date>();
    let most = 0;
    for (let minute = 0; minute < 2 * TURNS; minute++) {
      let shows = 0;
      for (const seconds of [0, 11, 59]) {
        const now = later(minute + seconds / 60);
        for (let position = FIRST_IDS; position < SIBLINGS; position++) {
          const one = { position, itemsInWebhook: SIBLINGS, fetchedAt: fetchedAt.get(position) ?? null, isKnown: true };
          if (planShow(candidate(one), now).kind !== 'show') continue;
          fetchedAt.set(position, now);
          shows++;
        }
      }
      most = Math.max(most, shows);
    }
    expect(most).toBe(KNOWN_SHOWS_PER_MINUTE);
    expect(fetchedAt.size).toBe(SIBLINGS - FIRST_IDS);
  });

  it('and begin again after the last; one that missed its turn waits for the next', () => {
    const at = (now: Date, fetchedAt: Date | null) =>
      planShow(candidate({ position: FIRST_IDS, itemsInWebhook: SIBLINGS, isKnown: true, fetchedAt }), now);
    expect(at(later(1), null)).toEqual({ kind: 'show' });
    expect(at(later(1.5), later(1))).toEqual({ kind: 'list', notBefore: later(1 + TURNS) });
    expect(at(later(3), null)).toEqual({ kind: 'list', notBefore: later(1 + TURNS) });
    expect(at(later(1 + TURNS), later(1))).toEqual({ kind: 'show' });
  });
});

it('a fetch of several items with one key uses the best of their plans', () => {
  const [show, charge] = [{ kind: 'show' }, { kind: 'charge' }] as const;
  const list = { kind: 'list', notBefore: undefined } as const;
  const soon = { kind: 'list', notBefore: later(1) } as const;
  expect(chooseBestPlan([list, charge, show])).toEqual(show);
  expect(chooseBestPlan([list, charge])).toEqual(charge);
  expect(chooseBestPlan([{ kind: 'list', notBefore: later(2) }, soon])).toEqual(soon);
});
