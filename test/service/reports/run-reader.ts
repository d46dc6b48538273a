import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a program that reads one of our files. @returns its standard output; throws if it fails. */
export async function runReader(program: string, args: string[]): Promise<string> {
  const env = { ...process.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' };
  const { stdout } = await run(program, args, { env, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

export type OfxTransaction = { id: string; amount: string; day: string; name: string; memo: string; type: string };
export type OfxStatement = {
  id: string;
  balance: string;
  available: string;
  asOf: string;
  transactions: OfxTransaction[];
};

/** Reads an OFX file with the Python library ofxparse. */
export async function readOfx(file: string): Promise<OfxStatement[]> {
  const script = fileURLToPath(new URL('./read-ofx.py', import.meta.url));
  return JSON.parse(await runReader('/usr/bin/python3', [script, file])) as OfxStatement[];
}
