import { expect, test } from 'vitest';
import { mapConcurrently } from '../../../src/reconciliation/windows/map-concurrently.ts';

/** Yields 1 to `last`, and records what was taken and whether it was closed. */
function openSource(last: number) {
  const state = { taken: 0, isClosed: false };
  const source = (async function* () {
    try {
      for (let item = 1; item <= last; item++) {
        state.taken = item;
        yield item;
      }
      return 'end' as const;
    } finally {
      state.isClosed = true;
    }
  })();
  return { state, source };
}

/** Lets every promise that can settle do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a source is read no faster than slots are free, and results come as they finish', async () => {
  const { state, source } = openSource(5);
  const works = new Map<number, PromiseWithResolvers<string>>();
  const mapped = mapConcurrently(source, 2, (item) => {
    const work = Promise.withResolvers<string>();
    works.set(item, work);
    return work.promise;
  });
  const first = mapped.next();
  await settle();
  expect([state.taken, works.size]).toEqual([2, 2]);
  works.get(2)?.resolve('two');
  expect(await first).toEqual({ done: false, value: 'two' });
  const second = mapped.next();
  await settle();
  expect([state.taken, works.size]).toEqual([3, 3]);
  for (let item = 1; item <= 5; item++) works.get(item)?.resolve(`${item}`);
  expect(await second).toEqual({ done: false, value: '1' });
  const rest: string[] = [];
  for (;;) {
    const next = mapped.next();
    await settle();
    for (const [item, work] of works) work.resolve(`${item}`);
    const step = await next;
    if (step.done) break;
    rest.push(step.value);
  }
  expect(rest).toEqual(['3', '4', '5']);
  expect(state.isClosed).toBe(true);
});

test('the value that the source returns is returned', async () => {
  const mapped = mapConcurrently(openSource(1).source, 2, async (item) => item);
  expect(await mapped.next()).toEqual({ done: false, value: 1 });
  expect(await mapped.next()).toEqual({ done: true, value: 'end' });
});

test('the first failure closes the source and is thrown once all started work has ended', async () => {
  const { state, source } = openSource(100);
  const slow = Promise.withResolvers<void>();
  let hasSlowEnded = false;
  const mapped = mapConcurrently(source, 3, async (item) => {
    if (item === 2) throw new Error('lease lost');
    await slow.promise;
    hasSlowEnded = true;
  });
  let thrown: unknown;
  const reading = mapped.next().catch((error: unknown) => {
    thrown = error;
  });
  await settle();
  expect([thrown, state.isClosed]).toEqual([undefined, true]);
  slow.resolve();
  await reading;
  expect(thrown).toMatchObject({ message: 'lease lost' });
  expect([hasSlowEnded, state.taken]).toEqual([true, 3]);
});

test('a failure of the source is thrown once all started work has ended', async () => {
  const ended: number[] = [];
  const failing = (async function* () {
    yield 1;
    throw new Error('page 2 failed');
  })();
  const mapped = mapConcurrently(failing, 2, async (item) => {
    await settle();
    ended.push(item);
  });
  await expect(mapped.next()).rejects.toThrow('page 2 failed');
  expect(ended).toEqual([1]);
});
