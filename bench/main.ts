/**
 * `npm run bench`: measures the figures of docs/benchmarks.md, one file after another, and prints each with its target. A
 * file of this folder that exports `run` returns its figures (figure.ts). Ratios compare two measurements of the same run,
 * because a slower machine changes both. `npm run bench -- callbacks` runs only the files whose name contains that word;
 * `--quick` runs those that export `quick`, with few rows, in under 3 minutes. Exit code 1 when a target is missed.
 * `programs/` holds what benches start as processes; `deep.ts` and `soak*.ts` are commands of their own.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeMachine } from './describe-machine.ts';
import type { Figure } from './figure.ts';

type Bench = { run?: () => Promise<Figure[]>; quick?: boolean };

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true });
// before the benches are imported: they choose their sizes by it
if (values.quick) process.env.BENCH_QUICK = '1';
const [only = ''] = positionals;
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts') && name !== 'main.ts' && name.includes(only))
  .sort();
process.stdout.write(`${describeMachine()}\n`);
let missed = 0;
for (const file of files) {
  const bench = (await import(`./${file}`)) as Bench;
  if (!bench.run || (values.quick && !bench.quick)) continue;
  const startedMs = performance.now();
  process.stderr.write(`${file} …\n`);
  for (const { figure, value, target, ok } of await bench.run()) {
    if (!ok) missed++;
    process.stdout.write(`| ${figure} | ${value} | ${target} | ${ok ? 'held' : 'MISSED'} |\n`);
  }
  process.stderr.write(`  ${file}: ${Math.round((performance.now() - startedMs) / 1000)} s\n`);
}
process.exit(missed === 0 ? 0 : 1);
