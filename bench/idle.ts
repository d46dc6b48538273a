import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, type Program, startServe } from '../demo/start-programs.ts';
import { type Figure, figure, QUICK } from './figure.ts';
import { readCpuUs } from './read-cpu.ts';

/** What the start left is collected ten seconds after it. */
const SETTLE_MS = QUICK ? 12_000 : 15_000;
const IDLE_MS = QUICK ? 10_000 : 60_000;
const KIB_A_MIB = 1024;

export const quick = true;

/** `serve` with nothing to do: the time until it is ready (its database was there before), its memory and its CPU. */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const provider = createServer((_, response) => {
    const page = { transactions: [], total: 0, current_page: 1, last_page: 1, next_page_url: false };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void provider.close());
  const providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  await (await start(home, providerUrl)).program[Symbol.asyncDispose]();
  const { program, readyMs } = await start(home, providerUrl);
  stack.use(program);
  await sleep(SETTLE_MS);
  const pid = program.child.pid ?? 0;
  const beforeUs = readCpuUs(pid);
  await sleep(IDLE_MS);
  const percent = (readCpuUs(pid) - beforeUs) / (IDLE_MS * 10);
  return [
    figure('`serve` from start to ready, its database made before, s', readyMs / 1000, 2),
    figure('… memory with nothing to do, MiB', readRssMib(pid), 150),
    figure('… CPU with nothing to do, % of a core', percent, 0.5),
  ];
}

async function start(home: string, providerUrl: string): Promise<{ program: Program; readyMs: number }> {
  const port = await findFreePort();
  const beganMs = performance.now();
  const env = {
    ...{ DATA_DIR: path.join(home, 'data'), HOST: '127.0.0.1' },
    ...{ PROVIDER_URL: providerUrl, PROVIDER_API_KEY: 'pk_0123456789abcdef' },
    ...{ WEBHOOK_SECRET: 'whk_0123456789abcdef0123456789abcdef', ADMIN_TOKEN: 'adm_0123456789abcdef0123456789abcdef' },
  };
  const program = await startServe(home, { env, port });
  return { program, readyMs: performance.now() - beganMs };
}

function readRssMib(pid: number): number {
  const kib = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kib / KIB_A_MIB;
}
