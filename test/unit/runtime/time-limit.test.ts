import { afterEach, expect, test, vi } from 'vitest';
import { withTimeLimit } from '../../../src/runtime/time-limit.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('at the limit the call rejects, the work is aborted, and its later error is ignored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { promise, reject } = Promise.withResolvers<never>();
  let signal: AbortSignal | undefined;
  const late = new Error('too slow');
  const limited = withTimeLimit(
    1_000,
    (given) => {
      signal = given;
      return promise;
    },
    () => late,
  );
  const outcome = expect(limited).rejects.toBe(late);
  vi.advanceTimersByTime(999);
  expect(signal?.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  await outcome;
  expect(signal?.reason).toBe(late);
  reject(new Error('the work failed later'));
});

test('work that ends in time gives its result or error, and leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await withTimeLimit(1_000, async () => 7)).toBe(7);
  const failed = new Error('failed');
  await expect(withTimeLimit(1_000, () => Promise.reject(failed))).rejects.toBe(failed);
  expect(vi.getTimerCount()).toBe(0);
});
