/**
 * The service as its operator runs it: two webs with a spool behind a balancer, two workers, a database with the documented
 * grants, the sandbox as provider, a merchant, and Prometheus and Alertmanager with the files of ops/.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import {
  type Api,
  createApi,
  findFreePort,
  type Program,
  type Server,
  startSandbox,
  startServe,
} from '../../demo/start-programs.ts';
import { createRandom } from '../../sandbox/domain/random.ts';
import { LIMITS } from '../../src/config/limits.ts';
import { type ActiveAlert, readSample, startAlertmanager, startPrometheus } from '../../test/support/start-ops.ts';
import { listen, openBalancer } from '../soak-replicas.ts';
import { openReceiver, type Receiver } from './receive-notifications.ts';
import { type OwnDatabase, startDatabase } from './start-database.ts';

const CONFERE = fileURLToPath(new URL('../../bin/confere', import.meta.url));
/** Debian's package `faketime`: a file moves the wall clock of a running process. */
export const FAKETIME = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;
/** Payments a second; each has a webhook or two. */
const RATE = Number(process.env.NIGHT_RATE ?? 5);
/** Planned changes of a payment happen this many times faster. */
const SPEED = 30;
/** The disk of the first web's DATA_DIR and spool. */
const DISK_MIB = 2_304;
/** How long a webhook may be early: a contradiction is known then. */
export const GRACE_MS = 60_000;
export const MERCHANT_ALERT_MS = LIMITS.callbackAlertMs;
const SECRET = 'whk_0123456789abcdef0123456789abcdef';
const TOKEN = 'adm_0123456789abcdef0123456789abcdef';
const KEY = 'pk_0123456789abcdef';

export type Process = { role: 'web' | 'worker'; url: string; program: Program; start(): Promise<void> };
export type Installation = AsyncDisposable & {
  home: string;
  signal: AbortSignal;
  database: OwnDatabase;
  sandbox: Api;
  api: Api;
  webs: [Process, Process];
  workers: [Process, Process];
  /** Where Alertmanager sends pages and tickets. */
  receiver: Receiver;
  /** Alerts that Alertmanager has. */
  listAlerts: (...filters: string[]) => Promise<ActiveAlert[]>;
  shop: { isDead: boolean };
  /** The disk of the first web; undefined where it cannot be mounted. */
  disk: string | undefined;
  /** Moves the wall clock of the first worker. */
  setClock: (aheadSeconds: number) => void;
  /** The verdict of the first page: `good`, `unknown`, `wrong`, or the status of an answer that is none. */
  readVerdict: () => Promise<string>;
};

export async function startInstallation(home: string, signal: AbortSignal): Promise<Installation> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startDatabase(home));
  const webs: Process[] = [];
  const balancer = stack.use(
    await openBalancer(
      [0, 1].map((n) => ({
        isReady: true,
        get url() {
          return webs[n]?.url ?? '';
        },
      })),
      createRandom('balancer'),
    ),
  );
  const zone = findNoonZone();
  const hook = ['--webhook-url', `${balancer.url}/webhooks/pix`, '--webhook-token', SECRET];
  const provider = stack.use(await startSandbox(home, { apiKey: KEY, args: ['--time-zone', zone, ...hook] }));
  const sandbox = createApi(provider.url, '', KEY);
  const receiver = stack.use(await openReceiver());
  const routes = readSample('alertmanager.yml').replaceAll('http://127.0.0.1:9/', `${receiver.url}/`);
  const alertmanager = stack.use(await startAlertmanager(home, routes));
  const env = {
    ...{ PROVIDER_URL: sandbox.url, PROVIDER_API_KEY: KEY, PROVIDER_TIME_ZONE: zone },
    ...{ DATABASE_URL: database.url, SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), ADMIN_TOKEN: TOKEN },
    ...{ WEBHOOK_SECRET: SECRET, WEBHOOK_GRACE: `${GRACE_MS / 1000}s`, ALERTMANAGER_URL: alertmanager.url },
    ...{ CALLBACK_ALLOW_PRIVATE: 'true' },
  };
  await prepareDatabase(database, env);
  const disk = mountDisk(stack, path.join(home, 'web1'));
  const clock = path.join(home, 'clock');
  const setClock = (seconds: number): void => writeFileSync(clock, `+${seconds}\n`);
  setClock(0);
  const start = async (name: string, role: Process['role'], more: Record<string, string> = {}): Promise<Process> => {
    const one = await startProcess({ home, name, role, env: { ...env, ...more } });
    stack.defer(() => end(one.program));
    return one;
  };
  const spool = (name: string) => ({ SPOOL_DIR: path.join(home, name, 'spool') });
  webs.push(await start('web1', 'web', spool('web1')), await start('web2', 'web', spool('web2')));
  const shifted = {
    ...{ LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_CACHE_DURATION: '1' },
    ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1' },
  };
  const workers = [await start('worker1', 'worker', shifted), await start('worker2', 'worker')];
  const urlsOf = (processes: Process[]): string[] => processes.map(({ url }) => url);
  const targets = { webs: urlsOf(webs), workers: urlsOf(workers) };
  stack.use(await startPrometheus(home, { alertmanager: alertmanager.url, ...targets }));
  const [web1, web2] = webs;
  const [worker1, worker2] = workers;
  if (!web1 || !web2 || !worker1 || !worker2) throw new Error('two webs and two workers were started');
  const api = createApi(web1.url, '/api/v1', TOKEN);
  const shop = { isDead: false };
  const server = stack.use(
    await listen((incoming, outgoing) => {
      incoming.resume();
      incoming.once('end', () => (shop.isDead ? outgoing.destroy() : outgoing.end()));
    }),
  );
  await openBooks(api, sandbox, server.url, zone);
  const cookie = await logIn(web1.url);
  const owned = stack.move();
  return {
    ...{ home, signal, database, sandbox, api, webs: [web1, web2], workers: [worker1, worker2] },
    ...{ receiver, listAlerts: alertmanager.list, shop, disk, setClock },
    readVerdict: () => readVerdict(web1.url, cookie),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A zone in which no midnight comes, whenever this runs. */
function findNoonZone(): string {
  const offset = 12 - new Date().getUTCHours();
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** Grants as in docs/configure.md, *Grants*. */
async function prepareDatabase(database: OwnDatabase, env: Record<string, string>): Promise<void> {
  const inherited = { PATH: process.env.PATH, HOME: process.env.HOME, ENV_FILE: '' };
  const owner = { env: { ...inherited, ...env, DATABASE_URL: database.ownerUrl } };
  await promisify(execFile)(CONFERE, ['migrate'], owner);
  const { stdout } = await promisify(execFile)(CONFERE, ['migrate', '--grants', 'confere@%'], owner);
  await database.run(stdout);
}

/** @returns the directory, a disk of its own that can be filled; undefined where this process may not mount. */
function mountDisk(stack: AsyncDisposableStack, directory: string): string | undefined {
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  stack.defer(() => void execFileSync('umount', ['-l', directory]));
  return directory;
}

async function startProcess(options: {
  home: string;
  name: string;
  role: Process['role'];
  env: Record<string, string>;
}): Promise<Process> {
  const { home, name, role } = options;
  const env = { ...options.env, DATA_DIR: path.join(home, name) };
  const port = await findFreePort();
  const launch = (): Promise<Server> => startServe(home, { name, args: [`--${role}`], env, port });
  const program = await launch();
  const one: Process = {
    ...{ role, url: program.url, program },
    async start() {
      one.program = await launch();
    },
  };
  return one;
}

async function end(program: Program): Promise<void> {
  program.child.kill('SIGCONT');
  await program[Symbol.asyncDispose]();
}

/** Opens the books of each platform today, adds a merchant, and starts the traffic. */
async function openBooks(api: Api, sandbox: Api, shop: string, zone: string): Promise<void> {
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date());
  const traffic = { per_second: RATE };
  const body = { traffic, lives: { speed: SPEED } };
  const {
    traffic: { platforms },
  } = await sandbox.call<{ traffic: { platforms: string[] } }>('PATCH', '/sandbox/switches', body);
  for (const platform of platforms)
    await api.call('POST', '/openings', { platform, day, balance: '1000.00', new_platform: true });
  await api.call('POST', '/merchants', { name: 'Loja', url: `${shop}/callbacks` });
}

async function logIn(url: string): Promise<string> {
  const headers = { origin: url, 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await request(`${url}/login`, { method: 'POST', headers, body: `token=${TOKEN}` });
  await answer.body.dump();
  const [cookie] = String(answer.headers['set-cookie']).split(';');
  if (answer.statusCode !== 303 || !cookie) throw new Error(`the console did not log in: ${answer.statusCode}`);
  return cookie;
}

async function readVerdict(url: string, cookie: string): Promise<string> {
  const answer = await request(`${url}/`, { headers: { cookie }, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const page = await answer.body.text();
  return /<div class="verdict is-(\w+)"/.exec(page)?.[1] ?? String(answer.statusCode);
}
