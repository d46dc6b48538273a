import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { acquireLock } from '../embedded/register-process.ts';
import { ConfereError } from '../src/domain/errors.ts';
import { runScenario } from './run-scenario.ts';
import { startDemoMerchant } from './start-demo-merchant.ts';
import { startPrograms } from './start-programs.ts';

const LIVE_RATE = '2/s';
const TRANSACTIONS = 1200;

process.umask(0o077);
process.exitCode = await main();

/** Runs the demo. @returns the exit code: 0 everything agrees, 1 something differs or failed, 2 wrong use. */
async function main(): Promise<number> {
  const program = new Command('confere demo')
    .description('run all of Confere against the sandbox, on this machine')
    .option('--once', 'run a short scenario with real numbers and exit: 0 when everything agrees')
    .option('--seed <number>', 'seed of the sandbox', '20261')
    .option('--transactions <number>', 'size of the scenario', readCount, TRANSACTIONS)
    .exitOverride()
    .showHelpAfterError();
  try {
    program.parse(process.argv.slice(2), { from: 'user' });
    const options = program.opts<{ once?: boolean; seed: string; transactions: number }>();
    return await demo({ ...options, once: options.once === true });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`confere: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ConfereError && error.code === 'wrong_use' ? 2 : 1;
  }
}

function readCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new ConfereError('wrong_use', '--transactions must be a positive number');
}

type Options = { once: boolean; seed: string; transactions: number };

async function demo({ once, seed, transactions }: Options): Promise<number> {
  const home = path.resolve(process.env.DATA_DIR ?? './var', once ? 'demo-once' : 'demo');
  mkdirSync(path.dirname(home), { recursive: true });
  const unlock = acquireLock(`${home}.lock`);
  if (!unlock) throw new ConfereError('wrong_use', `a demo already runs on ${home}: end it first`);
  // the scenario counts on an empty ledger
  rmSync(home, { recursive: true, force: true });
  const stop = new AbortController();
  // also the second Ctrl-C: the default would end this process alone, and leave what it started
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  await using merchant = await startDemoMerchant();
  await using programs = await startPrograms({ home, seed, rate: once ? undefined : LIVE_RATE, signal: stop.signal });
  const scenario = runScenario(programs, merchant, { home, transactions, live: !once, signal: stop.signal });
  const agrees = await scenario.catch((error: unknown) => {
    throw new Error(programs.describeEnded() ?? (error instanceof Error ? error.message : String(error)));
  });
  if (once || !agrees) {
    unlock();
    return agrees ? 0 : 1;
  }
  say('');
  say(`Console:   ${programs.app.url}/   (log in with the token below)`);
  say(`Token:     ${programs.app.token}`);
  say(`Sandbox:   ${programs.sandbox.url}/api/v1/transactions   (key ${programs.sandbox.apiKey}, ${LIVE_RATE} live)`);
  say(`Logs:      ${path.join(home, 'serve.log')}`);
  say('Ctrl-C ends it.');
  if (!stop.signal.aborted)
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
  say('\nstopping…');
  unlock();
  return 0;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
