import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { withContext } from '../../src/commands/with-context.ts';
import type { Timers } from '../../src/timers.ts';
import { type CommandResult, INHERITED_VARIABLES } from './run-command.ts';

/** `json`: the object that a command printed, {} where it printed something else. */
export type CommandAnswer = CommandResult & { json: Record<string, unknown> };

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in the test's own process, with this environment only, one at a time. A process takes a second to start:
 * runCommand is for tests whose subject is the process (signals, exit, `sandbox`, two at once).
 * @param timers the timers of the command.
 */
export function runCommandInProcess(
  args: string[],
  env: Record<string, string> = {},
  timers?: Timers,
): Promise<CommandAnswer> {
  const called = last.then(() => call(args, env, timers));
  last = called.catch(() => undefined);
  return called;
}

async function call(args: string[], env: Record<string, string>, timers: Timers | undefined): Promise<CommandAnswer> {
  const { env: envBefore, exitCode } = process;
  const [out, err] = [capture(process.stdout), capture(process.stderr)];
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, envBefore[name]]));
  process.env = { ...inherited, ...env };
  process.exitCode = 0;
  try {
    await runCommandLine(args, (needs, work) => withContext(needs, work, timers && { timers }));
    const text = out.text();
    return { code: Number(process.exitCode), out: text, err: err.text(), json: readObject(text) };
  } finally {
    process.env = envBefore;
    process.exitCode = exitCode;
    // reconcile changes this flag
    setFlagsFromString('--heap-growing-percent=0');
    for (const one of [out, err]) one.release();
  }
}

function readObject(text: string): Record<string, unknown> {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Captures the output of a stream. */
function capture(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const parts: Buffer[] = [];
  const write = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    parts.push(Buffer.from(chunk as string));
    const done = rest.find((one) => typeof one === 'function');
    if (done) process.nextTick(done as () => void);
    return true;
  };
  return {
    text: () => Buffer.concat(parts).toString(),
    release: () => {
      stream.write = write;
    },
  };
}
