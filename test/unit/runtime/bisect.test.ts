import { expect, test } from 'vitest';
import { bisect } from '../../../src/runtime/bisect.ts';

const BAD = new Error('bad item');
const isSplittable = (error: unknown): boolean => error === BAD;
const double = (bad: number[]) => async (some: number[]) => {
  if (some.some((item) => bad.includes(item))) throw BAD;
  return some.map((item) => item * 2);
};

test('bad items are refused alone, and the results keep the order of the items', async () => {
  const results = await bisect([1, 2, 3, 4, 5], double([2, 5]), { isSplittable, toResult: () => -1 });
  expect(results).toEqual([2, -1, 6, 8, -1]);
});

test('without a result for bad items, and for other errors, the error is thrown', async () => {
  await expect(bisect([1, 2, 3], double([3]), { isSplittable })).rejects.toBe(BAD);
  const broken = new Error('the database is down');
  let calls = 0;
  const work = async (): Promise<number[]> => {
    calls++;
    throw broken;
  };
  await expect(bisect([1, 2, 3], work, { isSplittable, toResult: () => -1 })).rejects.toBe(broken);
  expect(calls).toBe(1);
});
