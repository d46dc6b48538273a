import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { type LogFn, type Logger, pino } from 'pino';
import { VERSION } from './domain/version.ts';
import { traceFields } from './tracing/in-span.ts';

export type Log = Logger;

/** The process, named on each line. `role`: web, worker, all, or the command's name. */
export type LogProcess = { instance: string; role: string };

const fields = new AsyncLocalStorage<object>();

/**
 * Creates the log, in JSON lines. It must hold no personal data: errors are reduced by describeError (a database error
 * carries the statement with its values), and callers log ids and counts, never bodies or free text.
 *
 * At `debug` each stage of a webhook is one line with `stage` and the ids that link it to the others (docs/trace.md). These
 * lines stand behind `isLevelEnabled`, so that nothing is built for them at other levels.
 */
export function createLog(
  level: string,
  output: NodeJS.WritableStream,
  { instance, role }: LogProcess = { instance: createInstanceName(), role: 'command' },
): Log {
  const options = {
    level,
    base: { instance, role, version: VERSION, pid: process.pid },
    mixin: () => ({ ...fields.getStore(), ...traceFields() }),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { logMethod: limitRepeats() },
  };
  return pino(options, output);
}

const REPEAT_MS = 60_000;
/** Causes that are counted at once; further ones are logged each time. */
const CAUSES_COUNTED_MAX = 1_000;

type LogLine = Parameters<LogFn>;

/**
 * One line a minute for each cause: a loop that retries a thousand items logs its first failure, and after each minute the newest one,
 * with how many it stands for (`repeated`). Of lines with an `error` alone; its code, the message and the texts beside it are
 * the cause.
 */
function limitRepeats() {
  const causes = new Map<string, { count: number; write: (count: number) => void }>();
  return function logMethod(this: Logger, args: LogLine, method: LogFn): void {
    // cast, also below: pino types the arguments of one form of call; the fields come first, or are undefined
    const [about, message] = args as unknown as [Record<string, unknown> | undefined, unknown];
    const error = about?.error as DescribedError | string | undefined;
    if (!error) {
      method.apply(this, args);
      return;
    }
    // ids, days and files have digits: they differ for each item
    const texts = Object.entries(about ?? {}).filter(([, value]) => typeof value === 'string' && !/\d/.test(value));
    const named = typeof error === 'string' ? [error] : [error.name, error.code, error.message];
    const cause = JSON.stringify([message, named, texts]);
    const known = causes.get(cause);
    if (known) {
      known.count++;
      known.write = (repeated) => method.apply(this, [{ ...about, repeated }, message] as unknown as LogLine);
      return;
    }
    method.apply(this, args);
    if (causes.size >= CAUSES_COUNTED_MAX) return;
    causes.set(cause, { count: 0, write: () => undefined });
    const next = setInterval(() => {
      const counted = causes.get(cause);
      if (!counted || counted.count === 0) {
        clearInterval(next);
        causes.delete(cause);
        return;
      }
      counted.write(counted.count);
      counted.count = 0;
    }, REPEAT_MS);
    next.unref();
  };
}

/** The name of a process in logs and leases: unique over all hosts. */
export function createInstanceName(): string {
  return `${process.pid}.${randomBytes(6).toString('hex')}`;
}

/** Adds fields to each line that is logged while `work` runs, also later by what it awaits. */
export function withLogFields<T>(more: object, work: () => T): T {
  return fields.run(more, work);
}

type DescribedError = {
  name: string;
  code?: string | number;
  message?: string;
  /** A file of ours or a socket, of an error of the operating system. */
  path?: string;
  at?: string[];
  cause?: DescribedError;
};

const STACK_LINES_MAX = 4;
const CAUSES_MAX = 3;

/** Our own errors. Messages of others, such as those of mysql2, undici and the parsers, quote their input. */
const LOGGED_MESSAGES = ['ConfereError', 'InvariantError'];

/** Describes an error for the log: class, code and stack; the message only of our own errors. */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, errno, syscall, path } = error as NodeJS.ErrnoException;
  const described: DescribedError = { name: error.name };
  const named = code ?? errno;
  if (named) described.code = named;
  if (LOGGED_MESSAGES.includes(error.name)) described.message = error.message;
  if (syscall !== undefined && typeof path === 'string') described.path = path;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  const ours = frames.filter((line) => !line.includes('node_modules') && !line.includes('node:internal'));
  described.at = (ours.length > 0 ? ours : frames).slice(0, STACK_LINES_MAX).map((line) => line.trim().slice(3));
  if (error.cause !== undefined && depth < CAUSES_MAX) described.cause = describeError(error.cause, depth + 1);
  return described;
}
