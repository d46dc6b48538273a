import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { HTTP_LIMITS } from '../../src/http/connections/serve-http.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase } from './create-test-database.ts';
import { ADMIN_TOKEN, temporaryDirectory, urlOf, WEBHOOK_SECRET } from './start-serve.ts';
import { createTestTimers, type TestTimers } from './test-timers.ts';

/**
 * The parts of one process of the service: a database, a data directory, environment variables, a context. All contexts of
 * an environment share its timers, which a test can advance.
 */
export type TestEnvironment = AsyncDisposable & {
  context: Context;
  /** The environment variables that the context was opened with. */
  env: Record<string, string>;
  dataDir: string;
  timers: TestTimers;
  /** Opens the context of another process on the same database: its own connections, holder and caches. */
  replica(env?: Record<string, string>): Promise<Context>;
  /** Disposes a resource with the environment: after the signal is aborted, before the contexts, the newest first. */
  use<T extends AsyncDisposable>(resource: T): T;
};

/**
 * @param on an existing database; by default a new one.
 * @param logTo the stream of its log; LOG_LEVEL is silent by default.
 */
export async function openEnvironment(
  env: Record<string, string> = {},
  on?: { socketPath: string; database: string },
  logTo: NodeJS.WritableStream = process.stderr,
): Promise<TestEnvironment> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(temporaryDirectory());
  const all = {
    DATABASE_URL: urlOf(on ?? (await createTestDatabase())),
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: path.join(home.path, 'data'),
    PORT: '0',
    ADMIN_TOKEN,
    WEBHOOK_SECRET,
    CALLBACK_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'silent',
    ...env,
  };
  const timers = createTestTimers();
  const stop = new AbortController();
  const open = (more: Record<string, string> = {}): Promise<Context> => {
    const config = readConfig({ ...all, ...more });
    const log = createLog(config.LOG_LEVEL, logTo);
    return openContext(config, { log, signal: stop.signal, migrates: true, timers });
  };
  const context = stack.use(await open());
  const owned = stack.move();
  return {
    context,
    env: all,
    dataDir: all.DATA_DIR,
    timers,
    replica: async (more) => owned.use(await open(more)),
    use: (resource) => owned.use(resource),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await owned.disposeAsync();
    },
  };
}

/** Short linger: idle kept-alive connections of a test close with its server. */
export const TEST_HTTP_LIMITS = { ...HTTP_LIMITS, lingerMs: 20 };

/** Opens an environment and returns its context. Disposing the context disposes the environment. */
export async function openTestContext(env: Record<string, string> = {}): Promise<Context> {
  const environment = await openEnvironment(env);
  return {
    ...environment.context,
    async [Symbol.asyncDispose]() {
      await environment[Symbol.asyncDispose]();
    },
  };
}
