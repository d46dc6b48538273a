/**
 * `npm run bench`: measures the figures of the README's table, one file after another, and prints each with its target. A
 * file of this folder that exports `run` returns its figures (figure.ts). Ratios compare two measurements of the same run,
 * because a slower machine changes both. `npm run bench -- callbacks` runs only the files whose name contains that word. Exit
 * code 1 when a target is missed. `deep.ts`, `soak.ts` and `soak-callbacks.ts` are programs of their own.
 */
import { readdirSync } from 'node:fs';
import type { Figure } from './figure.ts';

const only = process.argv[2] ?? '';
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts') && name !== 'main.ts' && name.includes(only))
  .sort();
let missed = 0;
for (const file of files) {
  const bench = (await import(`./${file}`)) as { run?: () => Promise<Figure[]> };
  if (!bench.run) continue;
  process.stderr.write(`${file} …\n`);
  for (const { figure, value, target, ok } of await bench.run()) {
    if (!ok) missed++;
    process.stdout.write(`| ${figure} | ${value} | ${target} | ${ok ? 'held' : 'MISSED'} |\n`);
  }
}
process.exit(missed === 0 ? 0 : 1);
