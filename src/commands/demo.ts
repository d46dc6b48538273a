import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { takeLock } from '../../embedded/members.ts';
import { ConfereError } from '../domain/errors.ts';
import { startDemoMerchant } from './demo/demo-merchant.ts';
import { startPrograms } from './demo/start-programs.ts';
import { tellStory } from './demo/tell-story.ts';

const LIVE_RATE = '2/s';
const TRANSACTIONS = 1200;

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description('the whole of Confere at work against the sandbox, on this machine')
    .option('--once', 'tell a short story with real numbers and exit: 0 when everything agrees')
    .option('--seed <number>', 'of the sandbox', '20261')
    .option('--transactions <number>', 'how many the story is about', readCount, TRANSACTIONS)
    .action(async (options: { once?: boolean; seed: string; transactions: number }) => {
      process.exitCode = await demo({ ...options, once: options.once === true });
    });
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
  const unlock = takeLock(`${home}.lock`);
  if (!unlock) throw new ConfereError('wrong_use', `a demo runs on ${home} already: end it first`);
  // the story's numbers are those of an empty ledger
  rmSync(home, { recursive: true, force: true });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await using merchant = await startDemoMerchant();
  await using programs = await startPrograms({ home, seed, rate: once ? undefined : LIVE_RATE, signal: stop.signal });
  const agrees = await tellStory(programs, merchant, { home, transactions, live: !once, signal: stop.signal });
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
