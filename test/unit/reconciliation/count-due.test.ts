import { expect, test } from 'vitest';
import { isCountDue } from '../../../src/reconciliation/numbers/count-webhook-days.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ENDS_AT = new Date('2026-11-22T03:00:00Z');
const after = (ms: number): Date => new Date(ENDS_AT.getTime() + ms);

test.each([
  ['never counted', undefined, 90 * DAY_MS, true],
  ['of today, counted a minute ago', -10 * MINUTE_MS, -9 * MINUTE_MS, false],
  ['of today, counted five minutes ago', -10 * MINUTE_MS, -5 * MINUTE_MS, true],
  ['counted an hour after its end, an hour ago', 60 * MINUTE_MS, 120 * MINUTE_MS, true],
  ['counted a day after its end, an hour ago', DAY_MS, DAY_MS + 60 * MINUTE_MS, false],
  ['counted a day after its end, a day ago', DAY_MS, 2 * DAY_MS, true],
  ['counted 30 days after its end, 20 days ago', 30 * DAY_MS, 50 * DAY_MS, false],
])('a day %s: due or not', (_, countedMs, nowMs, isDue) => {
  const countedAt = countedMs === undefined ? undefined : after(countedMs);
  expect(isCountDue({ now: after(nowMs), endsAt: ENDS_AT, countedAt })).toBe(isDue);
});

test('a day is counted ten times in its 92 days after the hour in which it ends', () => {
  let [countedMs, times] = [60 * MINUTE_MS, 0];
  for (let nowMs = countedMs; nowMs < 92 * DAY_MS; nowMs += MINUTE_MS) {
    if (!isCountDue({ now: after(nowMs), endsAt: ENDS_AT, countedAt: after(countedMs) })) continue;
    [countedMs, times] = [nowMs, times + 1];
  }
  expect(times).toBe(11);
});
