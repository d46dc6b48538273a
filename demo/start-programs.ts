import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { childEnvironment } from '../embedded/programs/child-environment.ts';

const CONFERE = fileURLToPath(new URL('../bin/confere', import.meta.url));
const START_MS_MAX = 90_000;
const POLL_MS = 100;
const LOG_LINES_SHOWN = 8;
/** Below the range of /proc/sys/net/ipv4/ip_local_port_range as Linux sets it. */
const [PORT_MIN, PORT_MAX] = [12_000, 32_000];

export type Api = {
  url: string;
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  fetch(path: string): Promise<Buffer>;
};

export type Programs = AsyncDisposable & {
  app: Api & { token: string; webhookSecret: string; pid: number };
  sandbox: Api & { apiKey: string };
  /** Says how the log of the first program that ended by itself ends; undefined while all run. */
  describeEnded(): string | undefined;
};

/** Starts the sandbox and Confere as an operator would: as processes, each with its embedded database. */
export async function startPrograms(options: {
  home: string;
  seed: string;
  rate: string | undefined;
  signal: AbortSignal;
}): Promise<Programs> {
  mkdirSync(options.home, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const secret = (): string => randomBytes(24).toString('base64url');
  const [apiKey, token, webhookSecret] = [secret(), secret(), secret()];
  const { home, seed, rate, signal } = options;
  const traffic = rate ? ['--rate', rate, '--scenario', 'lost-webhooks'] : [];
  const sandbox = stack.use(await startSandbox(home, { apiKey, seed, args: ['--json', ...traffic], signal }));
  const port = await findFreePort();
  const env = {
    DATA_DIR: path.join(home, 'data'),
    HOST: '127.0.0.1',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    PROVIDER_URL: sandbox.url,
    PROVIDER_API_KEY: apiKey,
    WEBHOOK_SECRET: webhookSecret,
    // by default an unknown webhook counts as early, not forged, for ten minutes: too long for a demo
    WEBHOOK_GRACE: '8s',
    ADMIN_TOKEN: token,
    CALLBACK_ALLOW_PRIVATE: 'true',
    JOB_RECONCILE_RECENT: rate ? '* * * * *' : 'off',
  };
  const serve = stack.use(await startServe(home, { env, port, signal }));
  const owned = stack.move();
  return {
    app: { ...createApi(serve.url, '/api/v1', token), token, webhookSecret, pid: serve.child.pid ?? 0 },
    sandbox: { ...createApi(sandbox.url, '', apiKey), apiKey },
    describeEnded() {
      const ended = [sandbox, serve].find(hasEnded);
      return ended && `${ended.name} ended ${describeEnd(ended)}`;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Program = AsyncDisposable & { name: string; child: ChildProcess; logFile: string };
/** A program that answers HTTP. */
export type Server = Program & { url: string };

/**
 * Starts `serve` as a process, and waits until it is ready.
 * @param options.name of the log file. `args`: a side. `port`: a free one if undefined. `command`: `bin/confere` of another version.
 */
export function startServe(
  home: string,
  options: {
    env: Record<string, string>;
    name?: string;
    args?: string[];
    port?: number;
    command?: string | undefined;
    isReady?: (url: string) => Promise<boolean>;
    signal?: AbortSignal;
  },
): Promise<Server> {
  const { env, name = 'serve', args = [], command, isReady = isFullyReady, signal } = options;
  const start = (port: number) => startProgram(home, name, ['serve', ...args], { ...env, PORT: String(port) }, command);
  return startServer(start, { port: options.port, isReady, signal });
}

/** Starts the sandbox as a process, and waits until it answers. @param options.databaseUrl undefined: one in `home`. */
export function startSandbox(
  home: string,
  options: { apiKey: string; seed?: string; args?: string[]; databaseUrl?: string; signal?: AbortSignal },
): Promise<Server> {
  const { apiKey, seed = '1', args = [], databaseUrl, signal } = options;
  const database = databaseUrl ? ['--database-url', databaseUrl] : [];
  const start = (port: number) => {
    const all = ['sandbox', '--port', String(port), '--api-key', apiKey, '--seed', seed, ...database, ...args];
    return startProgram(home, 'sandbox', all, { DATA_DIR: home });
  };
  const isReady = async (url: string) => (await request(`${url}/sandbox/healthz`)).statusCode === 200;
  return startServer(start, { isReady, signal });
}

async function startServer(
  start: (port: number) => Program,
  options: {
    port?: number | undefined;
    isReady: (url: string) => Promise<boolean>;
    signal: AbortSignal | undefined;
  },
): Promise<Server> {
  await using stack = new AsyncDisposableStack();
  const port = options.port ?? (await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const program = stack.use(start(port));
  await waitUntilReady(program, () => options.isReady(url), options.signal);
  stack.move();
  return { ...program, url };
}

/** Starts `bin/confere` with these arguments and only this environment, without the file .env; its output goes to a log file. */
export function startProgram(
  home: string,
  name: string,
  args: string[],
  env: Record<string, string>,
  command = CONFERE,
): Program {
  const logFile = path.join(home, `${name}.log`);
  const log = openSync(logFile, 'a');
  const environment = childEnvironment({ ENV_FILE: '', ...env });
  const child = spawn(command, args, { env: environment, stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  return {
    name,
    child,
    logFile,
    async [Symbol.asyncDispose]() {
      if (hasEnded({ child })) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Sends SIGKILL, and waits until the process is gone. */
export async function killProgram({ child }: Program): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** @throws Error with the end of its log when it ends or START_MS_MAX pass. */
async function waitUntilReady(
  program: Program,
  ready: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  for (;;) {
    const up = await ready().catch(() => false);
    if (up) return;
    if (hasEnded(program) || Date.now() > deadline || signal?.aborted)
      throw new Error(`${program.name} did not start ${describeEnd(program)}`);
    await sleep(POLL_MS);
  }
}

function hasEnded({ child }: Pick<Program, 'child'>): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function describeEnd({ child, logFile }: Program): string {
  const tail = readFileSync(logFile, 'utf8').trim().split('\n').slice(-LOG_LINES_SHOWN).join('\n');
  return `(exit code ${child.exitCode ?? child.signalCode}):\n${tail}`;
}

/** Whether all of `serve` is ready: while its database opens, it only receives webhooks. */
async function isFullyReady(url: string): Promise<boolean> {
  const answer = await request(`${url}/readyz`);
  const body = (await answer.body.json()) as object;
  return answer.statusCode === 200 && !('degraded' in body);
}

/** JSON over HTTP with a bearer token. @throws Error on any status that is not 2xx. */
export function createApi(url: string, prefix: string, token: string): Api {
  async function send(method: string, target: string, body: unknown): Promise<Buffer> {
    const response = await request(`${url}${prefix}${target}`, {
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode >= 300)
      throw new Error(`${method} ${target}: ${response.statusCode} ${answer.toString().slice(0, 300)}`);
    return answer;
  }
  return {
    url,
    fetch: (target) => send('GET', target, undefined),
    call: async <T>(method: string, target: string, body?: unknown) => {
      const answer = await send(method, target, body);
      return (answer.length > 0 ? JSON.parse(answer.toString()) : undefined) as T;
    },
  };
}

/**
 * Finds a port on which nothing listens, for a program that gets it as an option. It is below the ports that the system
 * chooses itself: another process could get one of those before the program binds it.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
