import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRandom } from '../sandbox/domain/random.ts';
import { addDays } from '../sandbox/domain/wall-clock.ts';
import { readOptions } from '../sandbox/read-options.ts';
import { type RunningSandbox, startSandbox } from '../sandbox/start-sandbox.ts';
import type { Figure } from './figure.ts';

const DAYS = 50;
const PER_DAY = 20_000;
const LOAD_TARGET_S = 120;
const PAGES = 2_000;
const PAGE_TARGET_MS = 20;
const CREATES = 2_000;
const CREATE_TARGET_MS = 15;

/** Time to generate a million transactions over 50 days, to read a page at any depth of a day, and to create one. */
export async function run(): Promise<Figure[]> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-bench-sandbox-'));
  try {
    const args = ['--port', '0', '--data-dir', dataDir, '--seed', 'bench', '--manual'];
    const history = ['--history', `${DAYS}d`, '--per-day', String(PER_DAY)];
    const began = performance.now();
    await using sandbox = await startSandbox(readOptions([...args, ...history], {}), () => undefined);
    const loadedS = (performance.now() - began) / 1_000;
    const pages = await timePages(sandbox);
    const creates = await timeCreates(sandbox);
    return [
      {
        figure: `sandbox: history of ${sandbox.history.toLocaleString('en')} transactions`,
        value: `${loadedS.toFixed(0)} s`,
        target: `< ${LOAD_TARGET_S} s`,
        ok: loadedS < LOAD_TARGET_S,
      },
      figureOf(`sandbox: page at any depth of a day of ${PER_DAY.toLocaleString('en')}, p99`, pages, PAGE_TARGET_MS),
      figureOf('sandbox: create, p99', creates, CREATE_TARGET_MS),
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function timePages(sandbox: RunningSandbox): Promise<number[]> {
  const random = createRandom('pages');
  const today = sandbox.sandbox.clock.toWall(Date.now()).slice(0, 10);
  const times: number[] = [];
  for (let i = 0; i < PAGES; i++) {
    const day = addDays(today, -random.int(1, DAYS));
    const page = random.int(1, PER_DAY / 100);
    times.push(await timeOne(sandbox, `/api/v1/transactions?initial_date=${day}&final_date=${day}&page=${page}`));
  }
  return times;
}

async function timeCreates(sandbox: RunningSandbox): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CREATES; i++) {
    const body = {
      name: 'Ana Souza',
      email: 'ana@exemplo.com.br',
      phone: '11987654321',
      description: 'Pedido',
      document: '52998224725',
      amount: 10.5,
      platform: '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01',
      reference: `bench-${i}`,
    };
    times.push(await timeOne(sandbox, '/api/v1/transaction/pix/cashin', JSON.stringify(body)));
  }
  return times;
}

/** Returns the milliseconds from the request to the last byte of its answer. */
async function timeOne({ url, apiKey }: RunningSandbox, address: string, body?: string): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' };
  const began = performance.now();
  const response = await fetch(url + address, body === undefined ? { headers } : { method: 'POST', headers, body });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${address}: ${response.status}`);
  return performance.now() - began;
}

function figureOf(figure: string, times: number[], targetMs: number): Figure {
  // skip the first ones: cold cache, code not compiled yet
  const sorted = times.slice(100).sort((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  const p50 = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const value = `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms)`;
  return { figure, value, target: `< ${targetMs} ms`, ok: p99 < targetMs };
}
