import { expect, it } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { createWakeSignal, runWorkerLoop } from '../../../src/runtime/wake-signal.ts';
import { SYSTEM_TIMERS } from '../../../src/timers.ts';

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
