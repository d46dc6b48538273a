/**
 * `--idempotency-key` of the commands that change something: what it guarantees stands in src/access/keyed-request.ts. The key
 * belongs to the user of the operating system. Compared are the command, its arguments and options, and the content of its files;
 * what is kept is the standard output of a command that ended with exit code 0.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, type Hash } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { KEPT_DAYS } from '../access/kept-answers.ts';
import {
  awaitAnswer,
  checkKey,
  closeKeyedRequest,
  KeyInUseError,
  keepAnswer,
  openKeyedRequest,
  runKeyed,
} from '../access/keyed-request.ts';
import type { Context } from '../context.ts';
import { compareText } from '../domain/lists.ts';

/**
 * The commands that take a key, beside those of `changeCommand`. Other changes need none: `forget`, `retention`, `archives` and `commissions check` find
 * nothing the second time, `rotate-key` and `restore` are refused, `export` makes no revision without a change.
 */
export const KEYED_COMMANDS: readonly string[] = [
  'bank import',
  'reconcile',
  'close',
  'reopen',
  'accounts map',
  'import',
  'expected import',
  'webhooks reprocess',
];

type Invocation = { key?: string; asked: string; inputs: Hash; held?: string[] };
const current = new AsyncLocalStorage<Invocation>();

/** Adds the option to the commands that take it, and notes which one is called. */
export function addKeyOption(program: Command): void {
  const visit = (command: Command, path: string[]): void => {
    if (KEYED_COMMANDS.includes(path.join(' '))) takeKey(command);
    for (const inner of command.commands) visit(inner, [...path, inner.name()]);
  };
  visit(program, []);
  program.hook('preAction', (_, command) => noteCall(command));
}

/** Adds the option to a command. */
export function takeKey(command: Command): void {
  command.option('--idempotency-key <key>', `repeated with it within ${KEPT_DAYS} days, it changes nothing`);
}

/** @throws ConfereError `invalid_request` for a key that cannot be used. */
function noteCall(command: Command): void {
  const invocation = current.getStore();
  const { idempotencyKey: key, ...options } = command.opts<{ idempotencyKey?: string }>();
  if (!invocation || key === undefined) return;
  checkKey('--idempotency-key', key);
  const path: string[] = [];
  for (let one: Command | null = command; one; one = one.parent) path.unshift(one.name());
  invocation.key = key;
  invocation.asked = JSON.stringify([
    path,
    command.args,
    Object.entries(options).sort(([a], [b]) => compareText(a, b)),
  ]);
}

/** Runs one call of the command line. */
export function runInvocation<T>(work: () => T): T {
  return current.run({ asked: '', inputs: createHash('sha256') }, work);
}

/** Notes the content of a file that the command was given. Files are read before the context is opened: later ones are not compared. */
export function noteInput(bytes: Uint8Array): void {
  current.getStore()?.inputs.update(`${bytes.length}\n`).update(bytes);
}

/** Writes to standard output; of a command with a key once its answer is kept. */
export function writeOutput(text: string): void {
  const { held } = current.getStore() ?? {};
  if (held) held.push(text);
  else process.stdout.write(text);
}

/** Runs what a command does; with a key that was used before, prints what it printed then. @returns as `work`, the exit code. */
export async function runOnce(context: Context, work: () => Promise<unknown>): Promise<unknown> {
  const invocation = current.getStore();
  if (invocation?.key === undefined) return await work();
  const parts = [invocation.asked, invocation.inputs.digest()];
  const opened = await openKeyedRequest<string>(context, { caller: nameUser(), key: invocation.key, parts });
  if ('answer' in opened) return printAgain(opened.answer);
  const { request } = opened;
  invocation.held = [];
  try {
    const code = await runKeyed(request, work);
    const output = invocation.held.splice(0).join('');
    if (typeof code === 'number' && code !== 0) {
      process.stdout.write(output);
      return code;
    }
    process.stdout.write(await keepAnswer(request, output));
    return code;
  } catch (error) {
    const other = error instanceof KeyInUseError ? await awaitAnswer<string>(request) : undefined;
    if (other && 'answer' in other) return printAgain(other.answer);
    process.stdout.write(invocation.held.join(''));
    throw error;
  } finally {
    delete invocation.held;
    await closeKeyedRequest(request);
  }
}

function printAgain(output: string): void {
  process.stderr.write('it was done before: nothing is changed, and its first output follows\n');
  process.stdout.write(output);
}

/** A user without an entry in the password file has a number alone. */
function nameUser(): string {
  try {
    return `command ${userInfo().username}`;
  } catch {
    return `command ${process.getuid?.()}`;
  }
}
