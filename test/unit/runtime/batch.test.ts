import { afterEach, expect, it, vi } from 'vitest';
import { createBatcher, PARALLEL_START_WAIT_MS_MAX } from '../../../src/runtime/batch.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('refuses what comes while too many, or too much, wait; and takes again once they are done', async () => {
  let release = Promise.withResolvers<void>();
  const batches: string[][] = [];
  const give = createBatcher<string, string>({
    ...{ itemsMax: 10, bytesMax: 100, inFlightMax: 1, waitingMax: 3, waitingBytesMax: 8 },
    sizeOf: (item) => item.length,
    work: async (items) => {
      batches.push(items);
      await release.promise;
      return items;
    },
  });
  const first = give('a');
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = [give('bbbb'), give('cccc')];
  await expect(give('d')).rejects.toThrow(/2 items \(8 bytes\) wait/);
  release.resolve();
  expect(await Promise.all([first, ...waiting])).toEqual(['a', 'bbbb', 'cccc']);

  release = Promise.withResolvers<void>();
  const second = give('e');
  await new Promise((resolve) => setImmediate(resolve));
  const more = [give('f'), give('g'), give('h')];
  await expect(give('i')).rejects.toThrow(/3 items \(3 bytes\) wait/);
  release.resolve();
  expect(await Promise.all([second, ...more])).toEqual(['e', 'f', 'g', 'h']);
  expect(batches).toEqual([['a'], ['bbbb', 'cccc'], ['e'], ['f', 'g', 'h']]);
});

it('starts a batch beside another only once its share of what is under way waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const batches: { items: string[]; end: () => void }[] = [];
  const give = createBatcher<string, string>({
    ...{ itemsMax: 10, bytesMax: 100, inFlightMax: 2, parallelStartShare: 1, sizeOf: () => 1 },
    work: (items) => new Promise((resolve) => batches.push({ items, end: () => resolve(items) })),
  });
  const started = () => batches.map((batch) => batch.items.join(''));
  const given = [...'abc'].map(give);
  await tick();
  given.push(...[...'de'].map(give));
  await tick();
  expect(started()).toEqual(['abc']);
  given.push(give('f'));
  await tick();
  given.push(give('g'));
  await tick();
  expect(started()).toEqual(['abc', 'def']);
  batches[0]?.end();
  await tick();
  expect(started()).toEqual(['abc', 'def']);
  batches[1]?.end();
  await tick();
  expect(started()).toEqual(['abc', 'def', 'g']);
  batches[2]?.end();
  expect(await Promise.all(given)).toEqual([...'abcdefg']);
});

it('waits for no share for longer than a while: a batch that stands still holds up none of the others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const batches: { items: string[]; end: () => void }[] = [];
  const give = createBatcher<string, string>({
    ...{ itemsMax: 10, bytesMax: 100, inFlightMax: 3, parallelStartShare: 1, sizeOf: () => 1 },
    work: (items) => new Promise((resolve) => batches.push({ items, end: () => resolve(items) })),
  });
  const started = () => batches.map((batch) => batch.items.join(''));
  const given = [...'abcd'].map(give);
  await tick();
  given.push(give('e'));
  await tick();
  vi.advanceTimersByTime(PARALLEL_START_WAIT_MS_MAX - 1);
  given.push(give('f'));
  await tick();
  expect(started()).toEqual(['abcd']);
  vi.advanceTimersByTime(1);
  await tick();
  expect(started()).toEqual(['abcd', 'ef']);
  // one that ends leaves the same wait to those that came beside it
  given.push(give('g'));
  await tick();
  batches[1]?.end();
  await tick();
  expect(started()).toEqual(['abcd', 'ef']);
  vi.advanceTimersByTime(PARALLEL_START_WAIT_MS_MAX);
  await tick();
  expect(started()).toEqual(['abcd', 'ef', 'g']);
  for (const batch of batches) batch.end();
  expect(await Promise.all(given)).toEqual([...'abcdefg']);
});

it('collects items before each batch, if configured', async () => {
  vi.useFakeTimers();
  const batches: string[] = [];
  const give = createBatcher<string, string>({
    ...{ itemsMax: 10, bytesMax: 100, inFlightMax: 1, gatherMs: 25, sizeOf: () => 1 },
    work: async (items) => {
      batches.push(items.join(''));
      return items;
    },
  });
  const given = [give('a')];
  await vi.advanceTimersByTimeAsync(24);
  given.push(give('b'));
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(batches).toEqual(['ab']);
  given.push(give('c'));
  await vi.advanceTimersByTimeAsync(24);
  expect(batches).toEqual(['ab']);
  await vi.advanceTimersByTimeAsync(1);
  expect(await Promise.all(given)).toEqual(['a', 'b', 'c']);
});
