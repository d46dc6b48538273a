import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDatabase } from '../embedded/pool.ts';
import { joinServer } from '../embedded/server.ts';
import { readCpuUs } from './read-cpu.ts';
import { type Load, load, quantile } from './receiver-load.ts';
import { sampleMemory, tellMemory } from './soak.ts';

const MODES = ['bare', 'insert', 'ours'] as const;
type Mode = (typeof MODES)[number];
/** CPU that one request cost, in microseconds, by process. */
type Cost = { service: number; database: number };
type Slice = Load & { cost: Cost };
type Running = { port: number; pids: { service: number; database: number } };

const ROUNDS = Number(process.env.RECEIVER_ROUNDS ?? 9);
/** So long ours is driven at its peak after that, and its memory watched. */
const MEMORY_MINUTES = Number(process.env.RECEIVER_MINUTES ?? 0);
const SLICE_MS = 2_000;
const WARM_MS = 2_000;
const CONNECTIONS = 64;
/** As `bin/confere serve` has it, for all three. */
const SERVE_ARGUMENTS = ['--max-semi-space-size=32'];
const SECRET = 'whk_0123456789abcdef0123456789abcdef';

export type Figure = { figure: string; value: string | number; target: string; ok: boolean };

/**
 * Accepts a second against the same app without a database, and against one INSERT for each request. The three take
 * turns in short slices, in another order each round: what else the machine does falls on all, and the median of the
 * rounds' ratios is told.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const server = stack.use(await joinServer({ dataDir: home, log: () => undefined }));
  const database = Number(readFileSync(path.join(home, 'mariadb/server.pid'), 'utf8'));
  const running: Partial<Record<Mode, Running>> = {};
  for (const mode of MODES) {
    const name = `bench_${mode}`;
    await ensureDatabase({ socketPath: server.socketPath, user: 'root' }, name);
    const child = startServer(mode, server.socketPath, name, home);
    stack.defer(() => stop(child));
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    running[mode] = { port, pids: { service: child.pid ?? 0, database } };
    await load(port, { secret: SECRET, connections: CONNECTIONS, ms: WARM_MS });
  }
  const rounds: Record<Mode, Slice>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const order = [...MODES.slice(round % 3), ...MODES.slice(0, round % 3)];
    const slices: Partial<Record<Mode, Slice>> = {};
    for (const mode of order) {
      const one = running[mode];
      if (one) slices[mode] = await measure(one);
    }
    const { bare, insert, ours } = slices;
    if (bare && insert && ours) rounds.push({ bare, insert, ours });
  }
  const figures = judge(rounds);
  if (MEMORY_MINUTES > 0 && running.ours) figures.push(await watchMemory(running.ours.port));
  return figures;
}

async function measure({ port, pids }: Running): Promise<Slice> {
  const read = (): Cost => ({
    service: readCpuUs(pids.service),
    database: readCpuUs(pids.database),
  });
  const before = read();
  const loaded = await load(port, { secret: SECRET, connections: CONNECTIONS, ms: SLICE_MS });
  const after = read();
  const each = (process: keyof Cost): number => (after[process] - before[process]) / loaded.requests;
  return { ...loaded, cost: { service: each('service'), database: each('database') } };
}

/** At the peak, on an inbox that nobody works off: what the receiver alone holds must not grow. */
async function watchMemory(port: number): Promise<Figure> {
  const ms = MEMORY_MINUTES * 60_000;
  const endMs = Date.now() + ms;
  const samples = sampleMemory(`http://127.0.0.1:${port}`, () => Date.now() < endMs);
  const { requests, failures } = await load(port, { secret: SECRET, connections: CONNECTIONS, ms });
  const grew = tellMemory(`at the peak, ${requests} webhooks, ${failures} not answered 200`, await samples);
  return {
    figure: `memory over ${MEMORY_MINUTES} minutes at the peak`,
    value: grew ? 'grew' : 'flat',
    target: 'flat',
    ok: !grew,
  };
}

function judge(rounds: Record<Mode, Slice>[]): Figure[] {
  const median = (values: number[]): number => quantile(values, 0.5);
  for (const mode of MODES) {
    const perSecond = Math.round(median(rounds.map((round) => round[mode].perSecond)));
    const worst = median(rounds.map((round) => round[mode].p99Ms));
    const cost = (of: keyof Cost): string => median(rounds.map((round) => round[mode].cost[of])).toFixed(1);
    const spent = `service ${cost('service')}, database ${cost('database')}`;
    process.stderr.write(`  ${mode}: ${perSecond}/s, p99 ${worst.toFixed(1)} ms, µs of CPU a request: ${spent}\n`);
  }
  const ratio = (of: (round: Record<Mode, Slice>) => number): number => median(rounds.map(of));
  const failures = rounds.reduce((sum, { ours }) => sum + ours.failures, 0);
  return [
    figure(
      'webhooks accepted a second',
      ratio(({ ours }) => ours.perSecond),
      1,
      'least',
    ),
    figure(
      '… against the same app without a database',
      ratio(({ ours, bare }) => ours.perSecond / bare.perSecond),
      0.85,
      'least',
    ),
    figure(
      '… against one INSERT a request on 30 connections',
      ratio(({ ours, insert }) => ours.perSecond / insert.perSecond),
      2.2,
      'least',
    ),
    figure(
      'its p99 against that of the app without a database',
      ratio(({ ours, bare }) => ours.p99Ms / bare.p99Ms),
      2,
      'most',
    ),
    figure('webhooks not answered 200 under this load', failures, 0, 'most'),
  ];
}

function figure(name: string, value: number, bound: number, side: 'least' | 'most'): Figure {
  const ok = side === 'least' ? value >= bound : value <= bound;
  return { figure: name, value: Math.round(value * 100) / 100, target: `${side === 'least' ? '≥' : '≤'} ${bound}`, ok };
}

function startServer(mode: Mode, socketPath: string, database: string, home: string): ChildProcess {
  const url = `mysql://root@localhost/${database}?socket=${encodeURIComponent(socketPath)}`;
  const env = {
    ...process.env,
    ...{ DATABASE_URL: url, SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), DATA_DIR: path.join(home, mode) },
    ...{ PORT: '0', WEBHOOK_SECRET: SECRET, SPOOL_DIR: path.join(home, mode, 'spool') },
  };
  const file = fileURLToPath(new URL('receiver-server.ts', import.meta.url));
  return fork(file, [mode, socketPath, database], { env, execArgv: SERVE_ARGUMENTS });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}
