import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from '../support/previous-release.ts';

/**
 * An object that the code fills, or a table of texts: `fields[name]` finds `constructor` in every object, and throws or sets the
 * prototype for `__proto__`. A `Map` has no such names.
 */
const DICTIONARY = /Record<string,[^=;]*> = \{(?!\s*(?:\.\.\.|\}[,)]))|Object\.assign\(\{\}, /g;

test('no object is used as a map from foreign names', () => {
  const files = globSync('{src,jobs,embedded}/**/*.ts', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(700);
  const found = files.flatMap((file) =>
    [...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(DICTIONARY)].map(([text]) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});
