import { type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * Creates the log, in JSON lines. It must hold no personal data: errors are reduced by describeError (a database error
 * carries the statement with its values), and callers log ids and counts, never bodies or free text.
 */
export function createLog(level: string, output: NodeJS.WritableStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, output);
}

type DescribedError = { name: string; code?: string | number; message?: string; at?: string[]; cause?: DescribedError };

const STACK_LINES_MAX = 4;
const CAUSES_MAX = 3;

/** Describes an error for the log: class, code and stack; the message only of our own errors. */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, errno } = error as { code?: string | number; errno?: string | number };
  const described: DescribedError = { name: error.name };
  if (code ?? errno) described.code = code ?? errno ?? '';
  // mysql2, undici and the parsers quote their input in the message
  if (error.name === 'ConfereError') described.message = error.message;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  const ours = frames.filter((line) => !line.includes('node_modules') && !line.includes('node:internal'));
  described.at = (ours.length > 0 ? ours : frames).slice(0, STACK_LINES_MAX).map((line) => line.trim().slice(3));
  if (error.cause !== undefined && depth < CAUSES_MAX) described.cause = describeError(error.cause, depth + 1);
  return described;
}
