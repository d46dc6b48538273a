import { findUnknownNames } from '../config/unknown-names.ts';
import { type Config, readConfig } from '../config.ts';
import { type Context, type ContextOptions, openContext } from '../context.ts';
import { showUnseen } from '../domain/language/show-unseen.ts';
import { createInstanceName, createLog, type Log } from '../log.ts';
import type { Timers } from '../timers.ts';
import { startTracing } from '../tracing/start-tracing.ts';
import { runOnce, writeOutput } from './keyed-command.ts';

/** Exit code of a check that ends well later: what it waits for is still pending. */
export const NOT_YET = 3;

type CommandProcess = { log: Log; signal: AbortSignal; about: { instance: string; role: string } };

/**
 * Runs a command that opens the database itself, if at all. The exit code is the number that `work` returns, by default 0.
 * The log goes to standard error: standard output is the command's.
 */
export async function withConfig(
  work: (config: Config, process: CommandProcess) => Promise<unknown>,
  needs: { provider?: boolean } = {},
): Promise<void> {
  const config = readConfig(process.env, needs);
  const about = { instance: createInstanceName(), role: process.argv[2] ?? 'command' };
  const log = createLog(process.env.LOG_LEVEL ? config.LOG_LEVEL : 'warn', process.stderr, about);
  warnOfUnknownNames(process.env, log);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const code = await work(config, { log, signal: stop.signal, about });
    process.exitCode = typeof code === 'number' ? code : 0;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Arguments of a command without a context. */
export type WithoutContext = { config: Config; log: Log; signal: AbortSignal; timers?: Timers };

/**
 * Opens a context for one command, on the database that `serve` uses; an embedded one is reached through its socket.
 * @param more.withoutContext takes the place of `work` if the context can't be opened; it may throw the error.
 */
export async function withContext(
  needs: { provider?: boolean } & Partial<Pick<ContextOptions, 'migrates' | 'readOnly'>>,
  work: (context: Context) => Promise<unknown>,
  more: { timers?: Timers; withoutContext?: (error: unknown, parts: WithoutContext) => Promise<unknown> } = {},
): Promise<void> {
  const { withoutContext, ...timers } = more;
  const { migrates = false, readOnly = false } = needs;
  await withConfig(async (config, { about, ...parts }) => {
    const options = { ...timers, ...parts, migrates, readOnly, holder: about.instance };
    await using _ = await startTracing(config, about, (message) => parts.log.warn(message));
    const opened = await openContext(config, options).catch((error: unknown) => ({ error }));
    if (!('error' in opened)) {
      await using context = opened;
      return await runOnce(context, () => work(context));
    }
    if (!withoutContext) throw opened.error;
    return await withoutContext(opened.error, { config, ...parts, ...timers });
  }, needs);
}

/** A mistyped variable would silently leave its default in force. */
export function warnOfUnknownNames(env: NodeJS.ProcessEnv, log: Log): void {
  for (const { name, near } of findUnknownNames(env))
    log.warn(
      { name, near },
      `unknown environment variable ${name}: ${near ? `did you mean ${near}?` : 'no setting has this name'}`,
    );
}

/** `2026-11-22 19:05:12-03:00`: an instant on the provider's clock, as the console shows it, with its offset. */
export function formatTime({ calendar }: Context, instant: string | Date): string {
  return calendar.toIso(calendar.toWallTime(new Date(instant))).replace('T', ' ');
}

/** Prints one JSON object on one line, or a text for people, in which nothing is hidden or obeyed by a terminal. */
export function print(json: boolean | undefined, value: object, text: string): void {
  writeOutput(json ? `${JSON.stringify(value)}\n` : `${showUnseen(text)}\n`);
}
