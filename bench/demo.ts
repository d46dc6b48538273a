import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from './figure.ts';

const CONFERE = fileURLToPath(new URL('../bin/confere', import.meta.url));
const SECONDS_MAX = 40;

/** Time of the second `npm run demo -- --once`, when everything is set up. */
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
