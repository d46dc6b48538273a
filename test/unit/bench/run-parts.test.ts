import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { formatTable, type Part, runParts } from '../../../bench/run-parts.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const PASSES: Part = { name: 'passes', args: ['-e', ''] };
const FAILS: Part = { name: 'fails', args: ['-e', 'process.exit(3)'] };
const LACKS: Part = { name: 'lacks', args: [], missing: 'no wrk here' };

const resultsOf = async (parts: Part[], signal: AbortSignal) =>
  (await runParts(parts, signal)).map(({ name, result }) => [name, result]);

test('parts run one after another, each to its end, also after one that failed', async () => {
  expect(await resultsOf([FAILS, LACKS, PASSES], new AbortController().signal)).toEqual([
    ['fails', 'failed'],
    ['lacks', 'skipped: no wrk here'],
    ['passes', 'passed'],
  ]);
});

test('a signal ends the current part, and no other starts', async () => {
  using home = temporaryDirectory();
  const file = path.join(home.path, 'begun');
  const hang = `require('fs').writeFileSync(${JSON.stringify(file)}, ''); setInterval(() => undefined, 1000)`;
  const stopping = new AbortController();
  const results = resultsOf([PASSES, { name: 'hangs', args: ['-e', hang] }, PASSES], stopping.signal);
  await eventually('it hangs', () => existsSync(file));
  stopping.abort();
  expect(await results).toEqual([
    ['passes', 'passed'],
    ['hangs', 'stopped'],
  ]);
});

test('a part is given its seed, and the table names it', async () => {
  const check = "process.exit(process.env.TEST_SEED === '7' && process.env.TEST_DEEP === '1' ? 0 : 1)";
  const done = await runParts([{ name: 'seeded', args: ['-e', check], seed: 7 }], new AbortController().signal);
  expect(done).toMatchObject([{ result: 'passed' }]);
  expect(formatTable(done).split('\n').at(-1)).toMatch(/^\| seeded \| passed \| +[0-9]+ +\| TEST_SEED=7 \|$/);
});
