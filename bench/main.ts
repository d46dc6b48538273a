/**
 * Measures every figure of the README's table, one file after another, and prints it beside its target. Ratios compare
 * two things measured in this same run: a slower machine moves both.
 * `npm run bench -- callbacks` runs only the files whose name holds that word. Exit code 1 when a target is missed.
 */
import { readdirSync } from 'node:fs';

export type Figure = { figure: string; value: string | number; target: string; ok: boolean };

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
