import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinServer } from '../embedded/join-server.ts';
import { ensureDatabase } from '../embedded/open-database.ts';
import { type Figure, figure, QUICK, quantile } from './figure.ts';
import { readCpuUs } from './read-cpu.ts';
import { type Load, load } from './receiver-load.ts';
import { reportMemory, sampleMemory } from './soak.ts';
import { startBullmq, startPgBoss } from './start-chain.ts';

const OWN = ['bare', 'insert', 'ours'] as const;
/** What ours is compared with: the same app without a database, with one INSERT a request, and two queues. */
const LIMITS = ['bare', 'insert', 'bullmq', 'pg-boss'] as const;
type Limit = (typeof LIMITS)[number];
type Mode = Limit | 'ours';
/** CPU time per request, in microseconds, by process. */
type Cost = { service: number; database: number };
type Slice = Load & { cost: Cost };
/** A slice of a limit and the slice of ours next to it. */
type Pair = { limit: Slice; ours: Slice };
type Running = { port: number; secret: string; pids: { service: number; database: number } };

const ROUNDS = Number(process.env.RECEIVER_ROUNDS ?? (QUICK ? 1 : 9));
/** How long ours then runs at its peak while its memory is watched. */
const MEMORY_MINUTES = Number(process.env.RECEIVER_MINUTES ?? 0);
const SLICE_MS = QUICK ? 1_000 : 2_000;
const WARM_MS = QUICK ? 1_000 : 2_000;
const CONNECTIONS = 64;
const SECRET = 'whk_0123456789abcdef0123456789abcdef';

export const quick = true;

/**
 * Accepted webhooks per second, against the same app without a database, one INSERT per request, and queues. Ours alternates
 * with each of them in short slices, so that other load of the machine affects both; the figure is the median of the
 * pairs' ratios. The limits run one after another, because dirty pages of the single INSERTs would be written during a
 * slice of ours.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const server = stack.use(await joinServer({ dataDir: home, log: () => undefined }));
  const database = Number(readFileSync(path.join(home, 'mariadb/server.pid'), 'utf8'));
  const running: Partial<Record<Mode, Running>> = {};
  for (const mode of OWN) {
    const name = `bench_${mode}`;
    await ensureDatabase({ socketPath: server.socketPath, user: 'root' }, name);
    const child = startServer(mode, server.socketPath, name, home);
    stack.defer(() => stop(child));
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    running[mode] = { port, secret: SECRET, pids: { service: child.pid ?? 0, database } };
  }
  const accepting = { home, merchantUrl: 'http://127.0.0.1:9/', works: false };
  for (const start of [startBullmq, startPgBoss]) {
    const { name, url, ...chain } = await start(stack, accepting);
    running[name as Limit] = { ...chain, port: Number(new URL(url).port) };
  }
  for (const { port, secret } of Object.values(running)) {
    await load(port, { secret, connections: CONNECTIONS, ms: WARM_MS });
  }
  const take = async (mode: Mode): Promise<Slice> => await measure(running[mode] as Running);
  const pairs: Record<Limit, Pair[]> = { bare: [], insert: [], bullmq: [], 'pg-boss': [] };
  for (const limit of LIMITS) {
    for (let round = 0; round < ROUNDS; round++) {
      const before = round % 2 === 0 ? await take('ours') : undefined;
      const slice = await take(limit);
      pairs[limit].push({ limit: slice, ours: before ?? (await take('ours')) });
    }
  }
  const figures = toFigures(pairs);
  if (MEMORY_MINUTES > 0 && running.ours) figures.push(await watchMemory(running.ours.port));
  return figures;
}

async function measure({ port, secret, pids }: Running): Promise<Slice> {
  const read = (): Cost => ({
    service: readCpuUs(pids.service),
    database: readCpuUs(pids.database),
  });
  const before = read();
  const loaded = await load(port, { secret, connections: CONNECTIONS, ms: SLICE_MS });
  const after = read();
  const each = (process: keyof Cost): number => (after[process] - before[process]) / loaded.requests;
  return { ...loaded, cost: { service: each('service'), database: each('database') } };
}

/** At the peak, with no worker on the inbox: the memory of the receiver alone must not grow. */
async function watchMemory(port: number): Promise<Figure> {
  const ms = MEMORY_MINUTES * 60_000;
  const endMs = Date.now() + ms;
  const samples = sampleMemory(`http://127.0.0.1:${port}`, () => Date.now() < endMs);
  const { requests, failures } = await load(port, { secret: SECRET, connections: CONNECTIONS, ms });
  const grew = reportMemory(`at the peak, ${requests} webhooks, ${failures} not answered 200`, await samples);
  return {
    figure: `memory over ${MEMORY_MINUTES} minutes at the peak`,
    value: grew ? 'grew' : 'flat',
    target: 'flat',
    ok: !grew,
  };
}

function toFigures(pairs: Record<Limit, Pair[]>): Figure[] {
  const slices: [Mode, Slice[]][] = [
    ...LIMITS.map((limit): [Mode, Slice[]] => [limit, pairs[limit].map((pair) => pair.limit)]),
    ['ours', pairs.bare.map(({ ours }) => ours)],
  ];
  const median = (values: number[]): number => quantile(values, 0.5);
  for (const [mode, of] of slices) {
    const perSecond = Math.round(median(of.map((slice) => slice.perSecond)));
    const worst = median(of.map((slice) => slice.p99Ms));
    const cost = (process: keyof Cost): string => median(of.map((slice) => slice.cost[process])).toFixed(1);
    const spent = `service ${cost('service')}, database ${cost('database')}`;
    process.stderr.write(`  ${mode}: ${perSecond}/s, p99 ${worst.toFixed(1)} ms, µs of CPU a request: ${spent}\n`);
  }
  const ratio = (limit: Limit, of: (slice: Slice) => number): number =>
    median(pairs[limit].map((pair) => of(pair.ours) / of(pair.limit)));
  const perSecond = (slice: Slice): number => slice.perSecond;
  const failed = Object.values(pairs)
    .flat()
    .reduce((sum, { ours }) => sum + ours.failures, 0);
  return [
    figure('webhooks accepted a second', median(pairs.bare.map(({ ours }) => ours.perSecond)), 1, 'least'),
    figure('… against the same app without a database', ratio('bare', perSecond), 0.85, 'least'),
    figure('… against one INSERT a request on 30 connections', ratio('insert', perSecond), 2.2, 'least'),
    figure('… against Express and BullMQ, Redis syncing each write', ratio('bullmq', perSecond), 2, 'least'),
    figure('… against Express and pg-boss', ratio('pg-boss', perSecond), 2, 'least'),
    figure(
      'its p99 against that of the app without a database',
      ratio('bare', ({ p99Ms }) => p99Ms),
      2,
      'most',
    ),
    figure('webhooks not answered 200 under this load', failed, 0, 'most'),
  ];
}

function startServer(mode: Mode, socketPath: string, database: string, home: string): ChildProcess {
  const url = `mysql://root@localhost/${database}?socket=${encodeURIComponent(socketPath)}`;
  const env = {
    ...process.env,
    ...{ DATABASE_URL: url, SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), DATA_DIR: path.join(home, mode) },
    ...{ PORT: '0', WEBHOOK_SECRET: SECRET, SPOOL_DIR: path.join(home, mode, 'spool') },
  };
  return fork(fileURLToPath(new URL('programs/receiver-server.ts', import.meta.url)), [mode, socketPath, database], {
    env,
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}
