import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AttemptResult,
  decideOutcome,
  nextDelayMs,
  RETRY_AFTER_MS_MAX,
} from '../../../src/callbacks/deliver/decide-outcome.ts';
import {
  afterFailure,
  BREAKER_WINDOW_MS,
  DISABLE_AFTER_MS,
  NO_FAILURES,
  shouldDisable,
} from '../../../src/callbacks/health/merchant-health.ts';
import { blockedUntil, ORDER_HOLD_MS } from '../../../src/callbacks/queue/check-order.ts';
import { deriveCorrectionId, deriveEventId, digestContent } from '../../../src/callbacks/queue/derive-webhook-id.ts';
import { takeTokens } from '../../../src/callbacks/queue/limit-rates.ts';
import {
  adaptLimit,
  createSlots,
  giveSlotBack,
  IN_FLIGHT_MAX,
  limitOf,
  releaseSlot,
  reserveForNew,
  shareSlots,
  takeSlot,
  untrackCallback,
} from '../../../src/callbacks/queue/slots.ts';
import { sign } from '../../../src/callbacks/render/sign.ts';
import { parseRetryAfter } from '../../../src/domain/retry-after.ts';
import { propertyOptions } from '../../support/property.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
/** A status of the provider's that reads like our own word. */
const CORRECTED = { status: 'corrected', number: 1, atWall: '', occurrence: 0 };
const SCHEDULE = [5_000, 300_000, 1_800_000];
const REFUSED: AttemptResult = { status: 500, errorClass: 'http_status', retryAfterMs: undefined };
const FRESH = { isTest: false, isProbe: false, step: 0, firstFailedAt: null };
const later = (ms: number): Date => new Date(NOW.getTime() + ms);

test("a message is signed as Standard Webhooks' published vector says", () => {
  const key = createSecretKey(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'));
  const body = '{"test": 2432232314}';
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body };
  expect(sign([key], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  expect(sign([key, key], message).split(' ')).toHaveLength(2);
});

test('the id of an event is the same each time, differs with each part of its content, and does not depend on its time', () => {
  const key = createSecretKey(Buffer.alloc(32, 1));
  const subject = { merchantId: 'mer_1', transactionId: 't' };
  const event = { status: 'paid', number: 1, atWall: '2026-11-21 08:00:00', occurrence: 0 };
  const id = deriveEventId(key, subject, event);
  const others = [
    deriveEventId(key, { ...subject, merchantId: 'mer_2' }, event),
    deriveEventId(key, { ...subject, transactionId: 'u' }, event),
    deriveEventId(key, subject, { ...event, status: 'refund' }),
    deriveEventId(key, subject, { ...event, number: 2 }),
    deriveEventId(createSecretKey(Buffer.alloc(32, 2)), subject, event),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
  expect(deriveEventId(key, subject, { ...event, atWall: '2026-11-21 09:00:00', occurrence: 1 })).toBe(id);
});

test('the id of a correction differs with what was before and after and with which time that comes, not with its sequence', () => {
  const key = createSecretKey(Buffer.alloc(32, 1));
  const subject = { merchantId: 'mer_1', transactionId: 't' };
  const idOf = (before: string, after: string, number = 1, sequence = 3): string =>
    deriveCorrectionId(key, subject, { sequence, content: { hash: digestContent(key, { before, after }), number } });
  const ids = [
    idOf('A', 'B'),
    idOf('B', 'A'),
    idOf('A', 'B', 2),
    idOf('AB', ''),
    deriveEventId(key, subject, CORRECTED),
  ];
  expect(new Set(ids).size).toBe(5);
  expect(idOf('A', 'B', 1, 9)).toBe(ids[0]);
});

test('what was learnt before the upgrade keeps the id that 0.1.0 gave it', () => {
  const key = createSecretKey(Buffer.alloc(32, 1));
  const subject = { merchantId: 'mer_1', transactionId: 't' };
  const event = { status: 'paid', number: null, atWall: '2026-11-21 08:00:00', occurrence: 0 };
  expect(deriveEventId(key, subject, event)).toBe('msg_7aa92ebeab77986c3ac06ab30b305338');
  expect(deriveCorrectionId(key, subject, { sequence: 3, content: null })).toBe('msg_a524e7ae05695bea384a8e4e740a800d');
});

test('a delay is its step of the schedule ±20 %, and what the merchant asked for if that is longer, within an hour', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: SCHEDULE.length - 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.nat({ max: 10 * RETRY_AFTER_MS_MAX }), { nil: undefined }),
      (step, random, retryAfterMs) => {
        const base = SCHEDULE[step] ?? 0;
        const delay = nextDelayMs(SCHEDULE, step, { random, retryAfterMs }) ?? -1;
        const asked = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
        expect(delay).toBeGreaterThanOrEqual(Math.max(Math.floor(base * 0.8), asked));
        expect(delay).toBeLessThanOrEqual(Math.max(Math.ceil(base * 1.2), asked));
      },
    ),
    propertyOptions(30, 300),
  );
});

test('a schedule that is used up gives no delay, also with a Retry-After', () => {
  expect(nextDelayMs(SCHEDULE, 3, { random: 0.5, retryAfterMs: 1000 })).toBeUndefined();
});

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
  ['Sat, 21 Nov 2026 11:59:00 GMT', undefined],
  ['99999999999', 99_999_999_999_000],
  ['-1', undefined],
  ['soon', undefined],
  ['1.5', undefined],
  [undefined, undefined],
])('Retry-After %s is read as %s', (text, ms) => {
  expect(parseRetryAfter(text, NOW)).toBe(ms);
});

test('a callback waits for each older one until it has failed for 15 minutes', () => {
  expect(blockedUntil([], NOW)).toBeUndefined();
  expect(blockedUntil([{ firstFailedAt: null }], NOW)).toBeDefined();
  expect(blockedUntil([{ firstFailedAt: later(-ORDER_HOLD_MS) }], NOW)).toBeUndefined();
  expect(blockedUntil([{ firstFailedAt: later(-ORDER_HOLD_MS + 1000) }], NOW)).toEqual(later(1000));
  expect(blockedUntil([{ firstFailedAt: later(-ORDER_HOLD_MS) }, { firstFailedAt: null }], NOW)).toBeDefined();
});

test('the breaker opens after ten failures in a row, but not before they have lasted five minutes', () => {
  const quick = Array.from({ length: 50 }).reduce<typeof NO_FAILURES>(
    (health) => afterFailure(health, NOW),
    NO_FAILURES,
  );
  expect(quick.breakerOpenedAt).toBeNull();
  expect(afterFailure(quick, later(BREAKER_WINDOW_MS)).breakerOpenedAt).toEqual(later(BREAKER_WINDOW_MS));
  const few = afterFailure(afterFailure(NO_FAILURES, NOW), later(BREAKER_WINDOW_MS));
  expect(few.breakerOpenedAt).toBeNull();
});

test('a merchant is given up after five days without a success', () => {
  const failing = afterFailure(NO_FAILURES, NOW);
  expect([shouldDisable(NO_FAILURES, NOW), shouldDisable(failing, later(DISABLE_AFTER_MS - 1))]).toEqual([
    false,
    false,
  ]);
  expect(shouldDisable(failing, later(DISABLE_AFTER_MS))).toBe(true);
});

test('a callback that used up its schedule failed for good only where others of its merchant got through meanwhile', () => {
  const options = { schedule: SCHEDULE, random: 0.5, now: NOW };
  const last = { ...FRESH, step: 3, firstFailedAt: later(-60_000) };
  const away = { holdsBack: false, failingSince: later(-60_000) };
  const choosy = { holdsBack: false, failingSince: later(-1_000) };
  expect(decideOutcome(last, REFUSED, away, options).state).toBe('held');
  expect(decideOutcome(last, REFUSED, choosy, options).state).toBe('failed');
});

test('what is refused while its merchant is held back is held, and a probe uses up no step', () => {
  const options = { schedule: SCHEDULE, random: 0.5, now: NOW };
  const holding = { holdsBack: true, failingSince: NOW };
  expect(decideOutcome(FRESH, REFUSED, holding, options)).toEqual({ state: 'held', step: 1 });
  const probe = { ...FRESH, isProbe: true, step: 2 };
  expect(decideOutcome(probe, REFUSED, holding, options)).toEqual({ state: 'held', step: 2 });
});

test('a test is tried once', () => {
  const options = { schedule: SCHEDULE, random: 0.5, now: NOW };
  const merchant = { holdsBack: false, failingSince: null };
  expect(decideOutcome({ ...FRESH, isTest: true }, REFUSED, merchant, options)).toEqual({ state: 'failed' });
});

test('a rate holds over any interval, for any sequence of requests', () => {
  const requests = fc.array(fc.record({ waitMs: fc.nat({ max: 2_000 }), wanted: fc.nat({ max: 200 }) }), {
    maxLength: 50,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), requests, (rate, all) => {
      let nextAt: Date | null = null;
      let at = NOW;
      let granted = 0;
      for (const { waitMs, wanted } of all) {
        at = new Date(at.getTime() + waitMs);
        const taken = takeTokens(rate, nextAt, at, wanted);
        expect(taken.count).toBeLessThanOrEqual(wanted);
        granted += taken.count;
        if (taken.count > 0) nextAt = taken.nextAt;
      }
      // what fits, what may come at once, and the first
      expect(granted).toBeLessThanOrEqual(((at.getTime() - NOW.getTime() + 250) * rate) / 1000 + 1);
    }),
    propertyOptions(30, 300),
  );
});

test('a merchant that hangs soon has one place only, and grows again with its successes', () => {
  const places = createSlots();
  const limit = limitOf(places, 1);
  const free = (nowMs: number): number | undefined => shareSlots(places, [1], nowMs).get(1);
  const hangs = { delivered: false, asksForLess: true, retryAfterMs: undefined };
  for (let i = 0; i < 5; i++) adaptLimit(limit, hangs, 0);
  expect(free(0)).toBe(1);
  for (let i = 0; i < 100; i++) adaptLimit(limit, { delivered: true, asksForLess: false, retryAfterMs: undefined }, 0);
  expect(free(0)).toBe(32);
  adaptLimit(limit, { ...hangs, retryAfterMs: 3_600_000 }, 0);
  expect([free(59_999), free(60_000)]).toEqual([undefined, 16]);
});

test('however many slow merchants there are, one more still finds a place', () => {
  const places = createSlots();
  for (let seq = 1; seq <= 200; seq++) {
    for (let n = shareSlots(places, [seq], 0).get(seq) ?? 0; n > 0; n--) {
      takeSlot(places, { seq: seq * 1000 + n, merchantSeq: seq });
    }
  }
  expect(places.inFlight.size).toBeGreaterThanOrEqual(1000);
  expect(shareSlots(places, [1], 0).get(1)).toBeUndefined();
  expect(shareSlots(places, [201], 0).get(201)).toBe(4);
});

test('transactions reserve no more slots than may be in flight, over all merchants', () => {
  const slots = createSlots();
  let reserved = 0;
  for (let seq = 1; seq <= 200; seq++) while (reserveForNew(slots, seq, 0)) reserved++;
  expect(reserved).toBe(IN_FLIGHT_MAX);
  expect(shareSlots(slots, [201], 0).get(201)).toBe(4);
  giveSlotBack(slots, 1);
  expect(reserveForNew(slots, 201, 0)).toBe(true);
});

test('no new callback takes a slot before one that found none', () => {
  const slots = createSlots();
  while (reserveForNew(slots, 1, 0));
  giveSlotBack(slots, 1);
  expect(reserveForNew(slots, 1, 0)).toBe(false);
  // a claim finds that none waits
  limitOf(slots, 1).isSaturated = false;
  expect(reserveForNew(slots, 1, 0)).toBe(true);
});

test('a place is free again when the answer is here, and its callback is not claimed again until it is recorded', () => {
  const places = createSlots();
  const callback = { seq: 7, merchantSeq: 1 };
  shareSlots(places, [1], 0);
  takeSlot(places, callback);
  expect(shareSlots(places, [1], 0).get(1)).toBe(7);
  expect(releaseSlot(places, callback)).toBe(true);
  expect([shareSlots(places, [1], 0).get(1), places.claimed.has(7)]).toEqual([8, true]);
  untrackCallback(places, callback);
  expect([shareSlots(places, [1], 0).get(1), places.claimed.has(7)]).toEqual([8, false]);
});
