import { ConfereError } from '../../domain/errors.ts';

/** The key is missing, unreadable or another one: nothing that is encrypted can be opened. */
export class WrongKeyError extends ConfereError {
  constructor(message: string, options?: { cause: unknown }) {
    super('config_invalid', message, options);
  }
}
