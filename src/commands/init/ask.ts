/** Questions at a terminal. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { ConfereError, wrongUse } from '../../domain/errors.ts';

/** Asks one question. A secret is not echoed. @throws ConfereError `wrong_use` at the end of the input. */
export type Ask = (question: string, options?: { secret?: boolean }) => Promise<string>;
export type Terminal = { ask: Ask; say(text: string): void; [Symbol.dispose](): void };

/** Opens the terminal; questions go to standard error. */
export function openTerminal(): Terminal {
  let muted = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!muted) process.stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(wrongUse('the questions were not all answered: nothing is changed'));
    lines.once('close', end).once('SIGINT', () => lines.close());
  });
  ended.catch(() => undefined);
  return {
    async ask(question, { secret = false } = {}) {
      const typed = lines.question(`${question} `);
      // from after the question on
      muted = secret;
      try {
        return (await Promise.race([typed, ended])).trim();
      } finally {
        if (muted) process.stderr.write('\n');
        muted = false;
      }
    },
    say: (text) => void process.stderr.write(`${text}\n`),
    [Symbol.dispose]: () => lines.close(),
  };
}

/**
 * Takes an answer from an option, or asks until one passes its check.
 * @throws ConfereError `wrong_use` with the option's name, if its answer does not pass or there is no terminal.
 */
export async function answer<T>(
  terminal: Pick<Terminal, 'ask' | 'say'> | undefined,
  question: { option: string; text: string; given: string | undefined; secret?: boolean; otherwise?: string },
  check: (answer: string) => Promise<T> | T,
): Promise<T> {
  const { option, text, given, secret = false, otherwise } = question;
  const value = given ?? (terminal ? undefined : otherwise);
  if (value !== undefined) {
    try {
      return await check(value);
    } catch (error) {
      throw wrongUse(`${option}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (!terminal) throw wrongUse(`${option} is missing: without a terminal, init takes options`);
  for (;;) {
    const typed = (await terminal.ask(text, { secret })) || (otherwise ?? '');
    try {
      return await check(typed);
    } catch (error) {
      if (!(error instanceof ConfereError)) throw error;
      terminal.say(`  ${error.message}`);
    }
  }
}
