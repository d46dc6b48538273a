import { type Api, createApi } from '../../demo/start-programs.ts';
import { startService } from '../../src/commands/serve/start-service.ts';
import type { HttpLimits } from '../../src/http/connections/serve-http.ts';
import { openSpool } from '../../src/inbox/spool/spool.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';
import { ADMIN_TOKEN, API_KEY, NO_RUNS, sendWebhook } from './start-serve.ts';

/** The whole service in the test's own process: receiver, API, console, worker and timetable, over real HTTP. */
export type ServedEnvironment = TestEnvironment & {
  /** Calls /api/v1 as an admin. */
  api: Api;
  url: string;
  /** POSTs a body to the receiver with the provider's credentials. */
  webhook(body: unknown, headers?: Record<string, string>): Promise<{ status: number; json: Record<string, unknown> }>;
};

/**
 * Serves in this process. Use it unless the process itself is the subject (signals, exit codes, crash, two replicas, the
 * command line): a process takes a second and a half to start here.
 */
export async function openServedEnvironment(options: {
  providerUrl: string;
  env?: Record<string, string>;
  on?: { socketPath: string; database: string };
  logTo?: NodeJS.WritableStream;
  httpLimits?: Partial<HttpLimits>;
  sides?: { web: boolean; worker: boolean };
}): Promise<ServedEnvironment> {
  const env = { PROVIDER_URL: options.providerUrl, PROVIDER_API_KEY: API_KEY, ...NO_RUNS, ...options.env };
  const environment = await openEnvironment(env, options.on, options.logTo);
  const { context } = environment;
  const { SPOOL_DIR } = context.config;
  const spool = SPOOL_DIR === undefined ? undefined : environment.use(openSpool(SPOOL_DIR));
  const service = await startService(
    context,
    {
      sides: options.sides ?? { web: true, worker: true },
      spool,
      httpLimits: { ...TEST_HTTP_LIMITS, ...options.httpLimits },
    },
    () => undefined,
  );
  environment.use(service);
  const url = `http://127.0.0.1:${service.port}`;
  return {
    ...environment,
    api: createApi(url, '/api/v1', ADMIN_TOKEN),
    url,
    webhook: (body, headers) => sendWebhook(url, body, headers),
  };
}
