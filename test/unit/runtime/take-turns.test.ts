import { afterEach, expect, test } from 'vitest';
import { mapInTurns } from '../../../src/runtime/take-turns.ts';

const ROWS = [1, 2, 3, 4, 5, 6];
const ROW_MS = 12;

let isOver = false;
afterEach(() => {
  isOver = true;
});

/** Takes longer than a slice. */
function work(row: number): number {
  const endsAtMs = performance.now() + ROW_MS;
  while (performance.now() < endsAtMs);
  return 2 * row;
}

test('of five loops over rows one continues in a turn, and others have theirs between', async () => {
  const seen: string[] = [];
  const other = (): void => {
    seen.push(' ');
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const loops = ['a', 'b', 'c', 'd', 'e'].map((name) =>
    mapInTurns(ROWS, (row) => {
      seen.push(name);
      return work(row);
    }),
  );
  expect(await Promise.all(loops)).toEqual(loops.map(() => [2, 4, 6, 8, 10, 12]));
  // two where the order of the turns changes
  expect(
    Math.max(
      ...seen
        .join('')
        .split(' ')
        .map((rows) => rows.length),
    ),
  ).toBeLessThanOrEqual(2);
  expect(seen.filter((one) => one !== ' ').slice(0, 5)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a loop that fails rejects, and the others go on', async () => {
  const failing = mapInTurns(ROWS, () => {
    throw new Error('refused');
  });
  const others = mapInTurns(ROWS, work);
  await expect(failing).rejects.toThrow('refused');
  expect(await others).toHaveLength(6);
});
