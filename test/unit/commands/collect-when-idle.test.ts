import { afterEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from '../../../src/commands/serve/collect-when-idle.ts';

const MIB = 2 ** 20;

afterEach(() => {
  vi.useRealTimers();
});

/** @param grows the heap each ten seconds. @returns the seconds at which it is collected within an hour. */
function collectionsOfAnHour({ busyShare = 0.05, grows }: { busyShare?: number; grows: number }): number[] {
  vi.useFakeTimers();
  const at: number[] = [];
  let [now, heap] = [0, 110 * MIB];
  collectWhenIdle({
    busyShare: () => busyShare,
    usedBytes: () => heap,
    nowMs: () => now,
    collect() {
      at.push(now / 1_000);
      heap = 50 * MIB;
    },
  });
  for (; now < 3_600_000; now += 10_000) {
    heap += grows;
    vi.advanceTimersByTime(10_000);
  }
  return at;
}

test('an idle process collects what its start left, and then at most each ten minutes, however fast its heap grows', () => {
  expect(collectionsOfAnHour({ grows: 32 * MIB })).toEqual([0, 600, 1_200, 1_800, 2_400, 3_000]);
});

test('an idle process whose heap does not grow collects once', () => {
  expect(collectionsOfAnHour({ grows: 0 })).toEqual([0]);
});

test('a busy process leaves the collection to Node', () => {
  expect(collectionsOfAnHour({ busyShare: 0.2, grows: 32 * MIB })).toEqual([]);
});
