import { describeSystemError } from '../../embedded/files/describe-system-error.ts';
import { ConfereError } from '../domain/errors.ts';
import { describeError } from '../log.ts';

/**
 * Describes an error for people: in one line, with what to do. Database messages of other errors are omitted, because they quote
 * values.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof ConfereError) return error.message;
  const system = describeSystemError(error);
  if (system !== undefined) return system;
  const { name, code, at } = describeError(error);
  if (code === 'ABORT_ERR') return 'it was stopped by a signal before it was finished';
  const quotes = code !== undefined && /^ER_/.test(String(code));
  const message = !quotes && error instanceof Error ? error.message : '';
  return [name, code, message, at?.[0]].filter(Boolean).join(' ');
}
