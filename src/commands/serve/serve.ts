import path from 'node:path';
import type { Command } from 'commander';
import { bringBackAudit } from '../../access/bring-back-audit.ts';
import { createAdminToken } from '../../access/create-admin-token.ts';
import { type Config, readConfig } from '../../config.ts';
import type { Context } from '../../context.ts';
import { lockDataDir } from '../../database/open/lock-data-dir.ts';
import { createWaitingApp } from '../../http/create-worker-app.ts';
import { createSpoolApp } from '../../http/receiver/create-spool-app.ts';
import { hasSpool, spoolDirectory } from '../../inbox/spool/redact-retained-files.ts';
import { openSpool, SPOOL_BYTES_MAX, type Spool } from '../../inbox/spool/spool.ts';
import { createInstanceName, createLog, type Log } from '../../log.ts';
import { startTracing } from '../../tracing/start-tracing.ts';
import { warnOfUnknownNames } from '../with-context.ts';
import { collectWhenIdle } from './collect-when-idle.ts';
import { restrictDataDir } from './restrict-data-dir.ts';
import { startService } from './start-service.ts';
import { type EarlyApp, type OpenedService, waitForDatabase } from './wait-for-database.ts';

/** A shutdown may take 20 s: after this time the process exits with work under way. */
export const STOP_MS = 18_000;

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('receive webhooks, keep the ledger, reconcile, deliver callbacks (web and worker, or one of them)')
    .option('--web', 'only the web side: receiver, API, console')
    .option('--worker', 'only the worker: inbox, runs, callbacks, alerts, timetable')
    .action(async (options: { web?: boolean; worker?: boolean }) => {
      const both = !options.web && !options.worker;
      await serve({ web: both || options.web === true, worker: both || options.worker === true });
    });
}

async function serve(sides: { web: boolean; worker: boolean }): Promise<void> {
  const config = readConfig(process.env, { provider: true, web: sides.web });
  const role = sides.web && sides.worker ? 'all' : sides.web ? 'web' : 'worker';
  const about = { instance: createInstanceName(), role };
  const log = createLog(config.LOG_LEVEL, process.stdout, about);
  process.stdout.once('error', () =>
    process.stderr.write('confere: nobody reads the log any more: it is lost from here\n'),
  );
  warnOfUnknownNames(process.env, log);
  restrictDataDir(config.DATA_DIR, log);
  const unlock = config.DATABASE_URL ? undefined : lockDataDir(config.DATA_DIR);
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) return;
      log.info({ signal }, 'stopping');
      setTimeout(() => exitLate(log), STOP_MS).unref();
      stop.abort();
    });
  }
  {
    // disposed last: the spans of what ends before it are sent too
    await using _ = await startTracing(config, about, (message) => log.warn(message));
    await using spool = sides.web ? openOwnSpool(config, log) : undefined;
    const early = createEarlyApp(config, { log, signal: stop.signal, spool, web: sides.web });
    const opened = await waitForDatabase(config, { log, signal: stop.signal, early, holder: about.instance });
    if (opened) await run(opened, spool, sides, stop, stopped);
  }
  unlock?.();
  log.info('stopped');
}

/** A receiver without a spool has none: it can't do its work without the database, and ends. */
function createEarlyApp(
  config: Config,
  options: { log: Log; signal: AbortSignal; spool: Spool | undefined; web: boolean },
): EarlyApp | undefined {
  const { log, signal, spool, web } = options;
  if (spool) return { app: createSpoolApp(config, log, spool, signal), does: 'webhooks go to the spool' };
  return web ? undefined : { app: createWaitingApp(config, log, signal), does: 'the worker waits for it' };
}

/** Exits. Another process, or the next start, takes over work under way once its lease has expired. */
function exitLate(log: Log): void {
  log.error({ afterMs: STOP_MS }, 'shutdown did not finish in time, as when the database hangs: exiting');
  process.exit(1);
}

/** Runs the service until the signal. Each part ends after the parts that use it. */
async function run(
  opened: OpenedService,
  spool: Spool | undefined,
  sides: { web: boolean; worker: boolean },
  stop: AbortController,
  stopped: Promise<void>,
): Promise<void> {
  await using context = opened.context;
  await bringBackAudit(context);
  const options = { sides, spool, server: opened.server };
  await using _ = await startService(context, options, () => stop.abort());
  try {
    await announceAdminToken(context);
    collectWhenIdle();
  } catch (error) {
    // the loops that already run end only by the signal
    stop.abort();
    throw error;
  }
  await stopped;
}

/** Opens the spool for webhooks during a database outage: SPOOL_DIR, by default only with the embedded database. */
function openOwnSpool(config: Config, log: Log): Spool | undefined {
  if (!hasSpool(config)) return undefined;
  const directory = path.resolve(spoolDirectory(config));
  return openSpool(directory, SPOOL_BYTES_MAX, () =>
    log.error(
      { directory },
      'the directory of the spool was removed, and is made again: webhooks that were in it are lost',
    ),
  );
}

/** Prints the path of the token's file. Not the token: log collectors store standard output and error. */
async function announceAdminToken(context: Context): Promise<void> {
  const file = await createAdminToken(context);
  if (file === undefined) return;
  process.stderr.write(`\nADMIN_TOKEN is not set; made one, which its owner alone can read:\n  ${file}\n\n`);
}
