import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from './main.ts';

const CONFERE = fileURLToPath(new URL('../bin/confere', import.meta.url));
const SECONDS_MAX = 40;

/** The short story, set up already: what a second `npm run demo -- --once` takes. */
export async function run(): Promise<Figure[]> {
  const began = Date.now();
  await promisify(execFile)(CONFERE, ['demo', '--once'], { env: { ...process.env, DATA_DIR: '/tmp/confere-bench' } });
  const seconds = (Date.now() - began) / 1000;
  return [
    {
      figure: '`npm run demo -- --once`, the second time',
      value: `${seconds.toFixed(0)} s`,
      target: `< ${SECONDS_MAX} s`,
      ok: seconds < SECONDS_MAX,
    },
  ];
}
