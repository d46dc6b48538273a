import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('a file of bench/ that is a command does nothing when npm run bench imports it', () => {
  const files = globSync('bench/*.ts').filter((file) => file !== 'bench/main.ts');
  const ends = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('process.exit(')),
  );
  expect(ends.length).toBeGreaterThan(3);
  expect(ends.filter((line) => !line.startsWith('if (process.argv[1] === fileURLToPath(import.meta.url))'))).toEqual(
    [],
  );
});
