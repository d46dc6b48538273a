import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import {
  type Api,
  createApi,
  killProgram,
  type Program,
  type Server,
  startSandbox as startSandboxProgram,
  startServe as startServeProgram,
} from '../../demo/start-programs.ts';
import { createTestDatabase } from './create-test-database.ts';

export const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
export const ADMIN_TOKEN = 'adm_0123456789abcdef0123456789abcdef';
export const WEBHOOK_SECRET = 'whk_0123456789abcdef0123456789abcdef';
export const API_KEY = 'pk_0123456789abcdef';

/** No job reads the provider: a test starts its runs itself. */
export const NO_RUNS = {
  JOB_RECONCILE_RECENT: 'off',
  JOB_RECONCILE_WEEK: 'off',
  JOB_RECONCILE_MONTH: 'off',
  JOB_RECONCILE_QUARTER: 'off',
  JOB_RECONCILE_COUNTS: 'off',
  JOB_RECONCILE_OPEN: 'off',
  JOB_DAILY_REPORT: 'off',
  JOB_DAY_MANIFESTS: 'off',
};

export function urlOf(database: { socketPath: string; database: string }): string {
  return `mysql://root@localhost/${database.database}?socket=${encodeURIComponent(database.socketPath)}`;
}

/** A directory that is removed when disposed. */
export function temporaryDirectory(): { path: string } & Disposable {
  const directory = mkdtempSync(path.join(tmpdir(), 'confere-t-'));
  return { path: directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

export type Served = AsyncDisposable & {
  api: Api;
  url: string;
  program: Program;
  /** POSTs a body to the receiver with the provider's credentials. */
  webhook(body: unknown, headers?: Record<string, string>): Promise<{ status: number; json: Record<string, unknown> }>;
  /** Sends SIGKILL and waits until the process is gone. */
  kill(): Promise<void>;
};

/** Starts the service as a process and waits until it is ready. */
export async function startServe(options: {
  home: string;
  databaseUrl?: string | undefined;
  providerUrl: string;
  env?: Record<string, string>;
  /** Wait only until it accepts webhooks into its spool. */
  withoutDatabase?: boolean;
  /** `bin/confere` of another version. */
  program?: string;
}): Promise<Served> {
  const env = {
    ...(options.databaseUrl ? { DATABASE_URL: options.databaseUrl, SECRET_KEY } : {}),
    DATA_DIR: path.join(options.home, 'data'),
    PROVIDER_URL: options.providerUrl,
    PROVIDER_API_KEY: API_KEY,
    WEBHOOK_SECRET,
    ADMIN_TOKEN,
    CALLBACK_ALLOW_PRIVATE: 'true',
    ...NO_RUNS,
    ...options.env,
  };
  const isReady = async (url: string) => (await request(`${url}/readyz`)).statusCode === 200;
  const program = await startServeProgram(options.home, {
    ...{ env, command: options.program, ...(options.withoutDatabase && { isReady }) },
  });
  const { url } = program;
  return {
    api: createApi(url, '/api/v1', ADMIN_TOKEN),
    url,
    program,
    webhook: (body, headers) => sendWebhook(url, body, headers),
    kill: () => killProgram(program),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Starts the sandbox as a process on a new database. */
export async function startSandbox(home: string, args: string[] = []): Promise<Server & { api: Api }> {
  const databaseUrl = urlOf(await createTestDatabase('sandbox'));
  const sandbox = await startSandboxProgram(home, { apiKey: API_KEY, args, databaseUrl });
  return { ...sandbox, api: createApi(sandbox.url, '', API_KEY) };
}

export async function sendWebhook(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await request(`${url}/webhooks/pix`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${WEBHOOK_SECRET}`, ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  const text = await response.body.text();
  return { status: response.statusCode, json: JSON.parse(text) as Record<string, unknown> };
}
