import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type Listening, listenHttp } from '../http/serve-http.ts';
import { createSpoolApp } from '../http/spool-app.ts';
import type { Spool } from '../inbox/spool.ts';
import { describeError, type Log } from '../log.ts';

const RETRY_MS = 2_000;
/** The database can't be reached, or not now; anything else is a fault to be told at the start. */
const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['PROTOCOL_CONNECTION_LOST', 'ER_SERVER_SHUTDOWN', 'ER_CON_COUNT_ERROR'],
]);

export type Opened = { context: Context; listening: Listening | undefined };

/**
 * Opens the context. While the database can't be reached, and there is a spool, webhooks are taken into that meanwhile,
 * on the port where the whole app is served afterwards.
 * @returns undefined when the signal came first.
 */
export async function waitForDatabase(
  config: Config,
  options: { log: Log; signal: AbortSignal; spool: Spool | undefined },
): Promise<Opened | undefined> {
  const { log, signal, spool } = options;
  let listening: Listening | undefined;
  try {
    for (;;) {
      try {
        return { context: await openContext(config, { log, signal, migrates: true }), listening };
      } catch (error) {
        if (!spool || !AWAY.has(String((error as { code?: unknown }).code))) throw error;
        log.error({ error: describeError(error) }, 'the database can not be reached: webhooks go to the spool');
        listening ??= await listenHttp(config, createSpoolApp(config, log, spool, signal));
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) continue;
      await listening[Symbol.asyncDispose]();
      return undefined;
    }
  } catch (error) {
    await listening?.[Symbol.asyncDispose]();
    throw error;
  }
}
