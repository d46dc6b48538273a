import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATION_LOCKED } from '../../../embedded/migrations/migrate.ts';
import type { Config } from '../../config.ts';
import { type Context, openContext } from '../../context.ts';
import { isDatabaseAway } from '../../database/open/explain-failure.ts';
import { type ListeningServer, listenHttp } from '../../http/connections/serve-http.ts';
import { describeError, type Log } from '../../log.ts';

const RETRY_MS = 2_000;
/** When the database takes longer to open (it hangs, recovers or migrates), the early app serves meanwhile. */
const OPEN_MS = 2_000;
export type OpenedService = { context: Context; server: ListeningServer | undefined };

/** An app that needs no database, and what it does, for the log. */
export type EarlyApp = { app: RequestListener; does: string };

/**
 * Opens the context. While the database is unreachable or slow to open, the early app serves, on the port that later
 * serves the whole app. Without one an unreachable database is an error.
 * @returns undefined when the signal came first.
 */
export async function waitForDatabase(
  config: Config,
  options: { log: Log; signal: AbortSignal; early: EarlyApp | undefined; holder: string },
): Promise<OpenedService | undefined> {
  const { log, signal, early, holder } = options;
  let listening: ListeningServer | undefined;
  const listen = async ({ app }: EarlyApp): Promise<void> => {
    listening ??= await listenHttp(config, app);
  };
  try {
    for (;;) {
      const opening = openContext(config, { log, signal, migrates: true, holder });
      try {
        if (early && !listening && (await takesLonger(opening, OPEN_MS))) {
          log.warn(`database not open yet: ${early.does}`);
          await listen(early).catch(async (error: unknown) => {
            await opening.then(
              (context) => context[Symbol.asyncDispose](),
              () => undefined,
            );
            throw error;
          });
        }
        return { context: await opening, server: listening };
      } catch (error) {
        if (!early || !isWorthWaiting(error)) throw error;
        log.error({ error: describeError(error) }, `database unreachable: ${early.does}`);
        await listen(early);
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) continue;
      await listening?.[Symbol.asyncDispose]();
      return undefined;
    }
  } catch (error) {
    await listening?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** Whether the database may open later. Any other error fails the start. */
function isWorthWaiting(error: unknown): boolean {
  return isDatabaseAway((error as Error).cause) || (error as { code?: unknown }).code === MIGRATION_LOCKED;
}

/** Whether work takes longer than `ms`. */
async function takesLonger(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  const ended = work.then(
    () => false,
    () => false,
  );
  const late = sleep(ms, true, { signal: over.signal }).catch(() => false);
  return await Promise.race([ended, late]).finally(() => over.abort());
}
