import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATION_LOCKED } from '../../../embedded/migrate.ts';
import type { Config } from '../../config.ts';
import { type Context, openContext } from '../../context.ts';
import { type ListeningServer, listenHttp } from '../../http/connections/serve-http.ts';
import { createSpoolApp } from '../../http/receiver/create-spool-app.ts';
import type { Spool } from '../../inbox/spool/spool.ts';
import { describeError, type Log } from '../../log.ts';

const RETRY_MS = 2_000;
/** A database that takes longer to open (it hangs, recovers, is being migrated) is not waited for by webhooks. */
const OPEN_MS = 2_000;
/** The database can't be reached, or not now; anything else is a fault to be told at the start. */
const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EPIPE', 'PROTOCOL_CONNECTION_LOST', 'ER_SERVER_SHUTDOWN', 'ER_CON_COUNT_ERROR', MIGRATION_LOCKED],
  // Galera's node that is not ready; a server that only reads, for as long as another takes its place
  ...['ER_UNKNOWN_COM_ERROR', 'ER_OPTION_PREVENTS_STATEMENT', 'ER_READ_ONLY_MODE'],
]);

export type OpenedService = { context: Context; server: ListeningServer | undefined };

/**
 * Opens the context. While the database can't be reached, or takes its time, and there is a spool, webhooks are taken into
 * that meanwhile, on the port where the whole app is served afterwards.
 * @returns undefined when the signal came first.
 */
export async function waitForDatabase(
  config: Config,
  options: { log: Log; signal: AbortSignal; spool: Spool | undefined },
): Promise<OpenedService | undefined> {
  const { log, signal, spool } = options;
  let listening: ListeningServer | undefined;
  const listen = async (to: Spool): Promise<void> => {
    listening ??= await listenHttp(config, createSpoolApp(config, log, to, signal));
  };
  try {
    for (;;) {
      const opening = openContext(config, { log, signal, migrates: true });
      try {
        if (spool && !listening && (await lasts(opening, OPEN_MS))) {
          log.warn('the database is not open yet: webhooks go to the spool');
          await listen(spool).catch(async (error: unknown) => {
            await opening.then(
              (context) => context[Symbol.asyncDispose](),
              () => undefined,
            );
            throw error;
          });
        }
        return { context: await opening, server: listening };
      } catch (error) {
        if (!spool || !AWAY.has(String((error as { code?: unknown }).code))) throw error;
        log.error({ error: describeError(error) }, 'the database can not be reached: webhooks go to the spool');
        await listen(spool);
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

/** Whether work is still under way after so long. */
async function lasts(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  const ended = work.then(
    () => false,
    () => false,
  );
  const late = sleep(ms, true, { signal: over.signal }).catch(() => false);
  return await Promise.race([ended, late]).finally(() => over.abort());
}
