import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { createBatcher } from '../../../src/runtime/batch.ts';

test('a batch runs in the context of no call, and each call keeps its own', async () => {
  const callers = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const add = createBatcher<string, string>({
    itemsMax: 10,
    bytesMax: 100,
    sizeOf: () => 1,
    inFlightMax: 1,
    work: async (items) => {
      seen.push(callers.getStore());
      return items;
    },
  });
  const call = (name: string) =>
    callers.run(name, async () => {
      await add(name);
      return callers.getStore();
    });
  expect(await Promise.all([call('first'), call('second')])).toEqual(['first', 'second']);
  expect(seen).toEqual([undefined]);
});
