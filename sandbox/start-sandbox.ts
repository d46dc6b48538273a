import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { joinServer } from '../embedded/join-server.ts';
import { migrate } from '../embedded/migrations/migrate.ts';
import { type ConnectionTarget, ensureDatabase, openDatabase } from '../embedded/open-database.ts';
import type { Sandbox } from './context.ts';
import type { FaultTallies } from './faults/choose-fault.ts';
import { buildApp } from './http/build-app.ts';
import { runSteps } from './lifecycle/run-steps.ts';
import { openSandbox } from './open-sandbox.ts';
import type { SandboxOptions } from './read-options.ts';
import type { Tables } from './store/tables.ts';
import { MACHINE_TIMERS } from './timers.ts';
import { loadHistory } from './traffic/load-history.ts';
import { runTraffic } from './traffic/run-traffic.ts';
import { type FlushSignal, runWebhooks } from './webhooks/run-webhooks.ts';

const CONNECTIONS = 24;
const DRAIN_TIMEOUT_MS = 5_000;

export type RunningSandbox = {
  url: string;
  apiKey: string;
  checkoutUrl: string;
  seed: string;
  /** number of transactions that the history generated at this start */
  history: number;
  sandbox: Sandbox;
  /** drains: refuses new requests, finishes current ones, stops the loops, leaves the database */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts the sandbox: database, history, planned steps, webhooks, traffic, HTTP. It listens after the history is loaded. */
export async function startSandbox(
  options: SandboxOptions,
  log: (message: string) => void,
  progress: (made: number, wanted: number) => void = () => undefined,
  timers = MACHINE_TIMERS,
): Promise<RunningSandbox> {
  await using cleanup = new AsyncDisposableStack();
  const target = await reachServer(options, cleanup, log);
  await ensureDatabase(target, options.database);
  const database = cleanup.use(
    openDatabase<Tables>({ ...target, database: options.database, connectionLimit: CONNECTIONS }),
  );
  await migrate(database.db, { folder: path.join(import.meta.dirname, 'migrations'), log });
  const ending = new AbortController();
  const { settings, switches, timeZone } = options;
  const { signal } = ending;
  const sandbox = await openSandbox({ db: database.db, settings, switches, timeZone, log, signal, timers });
  const history =
    options.historyDays === undefined
      ? 0
      : await loadHistory(sandbox, { days: options.historyDays, perDay: options.perDay, progress });
  const flushSignal: FlushSignal = { untilMs: 0 };
  const tallies: FaultTallies = new Map();
  const server = createServer(buildApp(sandbox, { flushSignal, tallies }));
  await listen(server, options);
  cleanup.defer(() => close(server));
  settings.url = `http://${urlHost(options.host)}:${(server.address() as AddressInfo).port}`;
  settings.checkoutUrl = options.checkoutUrl ?? `${settings.url}/checkout`;
  const loops = Promise.all([runSteps(sandbox), runWebhooks(sandbox, flushSignal), runTraffic(sandbox)]);
  cleanup.defer(async () => {
    ending.abort();
    await loops;
  });
  const rest = cleanup.move();
  return {
    url: settings.url,
    apiKey: settings.apiKey,
    checkoutUrl: settings.checkoutUrl,
    seed: settings.seed,
    history,
    sandbox,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

async function reachServer(
  options: SandboxOptions,
  cleanup: AsyncDisposableStack,
  log: (message: string) => void,
): Promise<ConnectionTarget> {
  if (options.server !== undefined) return options.server;
  const joined = cleanup.use(await joinServer({ dataDir: options.dataDir, log }));
  return { socketPath: joined.socketPath, user: 'root' };
}

async function listen(server: Server, { host, port }: SandboxOptions): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timeout = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await closed;
  clearTimeout(timeout);
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
