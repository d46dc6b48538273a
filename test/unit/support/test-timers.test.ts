import { describe, expect, test } from 'vitest';
import { createTestTimers } from '../../support/test-timers.ts';

const HOUR_MS = 3_600_000;

describe('timers of a test', () => {
  test('run a sleep that is due after an advance, and no other', async () => {
    const timers = createTestTimers();
    const ended: string[] = [];
    void timers.sleep(HOUR_MS, { ref: false }).then(() => ended.push('an hour'));
    void timers.sleep(2 * HOUR_MS, { ref: false }).then(() => ended.push('two hours'));
    await timers.advance(HOUR_MS);
    expect(ended).toEqual(['an hour']);
    await timers.advance(HOUR_MS);
    expect(ended).toEqual(['an hour', 'two hours']);
  });

  test('move both clocks by the advanced time', async () => {
    const timers = createTestTimers();
    const before = { now: timers.now(), elapsed: timers.monotonicMs() };
    await timers.advance(HOUR_MS);
    expect(timers.now() - before.now).toBeGreaterThanOrEqual(HOUR_MS);
    expect(timers.monotonicMs() - before.elapsed).toBeGreaterThanOrEqual(HOUR_MS);
  });

  test('repeat until cancelled, and reject a sleep when its signal aborts', async () => {
    const timers = createTestTimers();
    const stop = new AbortController();
    let runs = 0;
    const repeating = timers.every(HOUR_MS, () => runs++);
    const sleeping = timers.sleep(HOUR_MS, { signal: stop.signal });
    stop.abort();
    await expect(sleeping).rejects.toThrow(/abort/);
    await timers.advance(HOUR_MS);
    await timers.advance(HOUR_MS);
    repeating.cancel();
    await timers.advance(HOUR_MS);
    expect(runs).toBe(2);
  });
});
