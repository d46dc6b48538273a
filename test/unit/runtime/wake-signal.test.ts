import { expect, it } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { createWakeSignal, runWorkerLoop } from '../../../src/runtime/wake-signal.ts';
import { SYSTEM_TIMERS } from '../../../src/timers.ts';
import { createTestTimers } from '../../support/test-timers.ts';

it('a loop works at its start and when it is called; after an idle wait only if there is work', async () => {
  const stop = new AbortController();
  const rounds: string[] = [];
  const idle = Promise.withResolvers<void>();
  let asked = 0;
  const wakeUp = createWakeSignal(SYSTEM_TIMERS);
  const loop = runWorkerLoop({
    name: 'test',
    wakeUp,
    idleMs: 1,
    context: { log: createLog('silent', process.stdout), timers: SYSTEM_TIMERS, signal: stop.signal },
    hasWork: async () => {
      asked++;
      if (asked === 3) idle.resolve();
      return asked === 6;
    },
    work: async () => {
      rounds.push(`after ${asked}`);
      if (asked === 6) stop.abort();
      return false;
    },
  });
  await idle.promise;
  wakeUp.notify();
  await loop;
  expect(rounds[0]).toBe('after 0');
  expect(rounds.at(-1)).toBe('after 6');
  expect(rounds).toHaveLength(3);
});

it('loops that ask end their idle waits at the same time, whenever they began, and at most idleMs later', async () => {
  const timers = createTestTimers();
  timers.freeze();
  const stop = new AbortController();
  const asked: Record<string, number[]> = { early: [], late: [], slow: [] };
  const start = (name: string, idleMs: number | (() => number)): Promise<void> =>
    runWorkerLoop({
      ...{ name, idleMs, wakeUp: createWakeSignal(timers), work: async () => false },
      hasWork: async () => {
        asked[name]?.push(Math.round(timers.monotonicMs()));
        return false;
      },
      context: { log: createLog('silent', process.stdout), timers, signal: stop.signal },
    });
  const beganMs = timers.monotonicMs();
  const loops = [start('early', 500)];
  // its first round ends, and it waits
  await timers.advance(0);
  await timers.advance(130);
  loops.push(
    start('late', 500),
    start('slow', () => 1_000),
  );
  for (let ms = 0; ms < 2_000; ms += 10) await timers.advance(10);
  stop.abort();
  await Promise.all(loops);
  const { early = [], late = [], slow = [] } = asked;
  expect(late.length).toBeGreaterThan(2);
  expect(early).toEqual(expect.arrayContaining(late));
  expect(early).toEqual(expect.arrayContaining(slow));
  expect(early[0]).toBeLessThanOrEqual(beganMs + 510);
});
