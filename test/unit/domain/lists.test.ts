import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { append, largest, smallest } from '../../../src/domain/lists.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** A list spread into the arguments of a call, as in `push(...rows)`; not into an array or object, as in `push([...rows])`. */
const SPREAD_ARGUMENT =
  /\b(?:push|unshift|concat|splice|max|min|fromCharCode|fromCodePoint|of)\((?:[^()[\]{}]*,)?\s*\.\.\./g;

it('takes more items than a call takes arguments', () => {
  const many = Array.from({ length: 500_000 }, (_, index) => index);
  const list = [-1];
  append(list, many);
  expect([list.length, list.at(-1), largest(many), smallest(many)]).toEqual([500_001, 499_999, 499_999, 0]);
});

it('knows no largest and no smallest of nothing', () => {
  expect([largest([]), smallest([])]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

it('is used where a list would be spread into the arguments of a call, which has a limit', () => {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(500);
  const spread = files
    .filter((file) => file !== path.join('domain', 'lists.ts'))
    .flatMap((file) => {
      const text = readFileSync(path.join(root, 'src', file), 'utf8');
      return [...text.matchAll(SPREAD_ARGUMENT)].map(([call]) => `${file}: ${call}`);
    });
  expect(spread).toEqual([]);
});
