/**
 * `npm run soak`: SOAK_MINUTES (10) of webhooks at half of the peak rate, or at SOAK_RATE per second, while it kills the
 * service and its database with SIGKILL; then a minute of fuzzing. It passes if no webhook that was answered 200 is lost,
 * nothing is booked twice, and memory stays flat under the fuzzing; else exit code 1. With SOAK_BREAKS=off nothing is killed,
 * and memory must stay flat over the whole time.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { createApi, findFreePort, killProgram, startSandbox, startServe } from '../demo/start-programs.ts';
import { fuzzReceiver } from '../test/service/receiver/fuzz-receiver.ts';
import { quantile } from './figure.ts';
import { load, makeBody } from './receiver-load.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const PEAK_MS = 5_000;
const CONNECTIONS = 64;
const BREAKS = process.env.SOAK_BREAKS !== 'off';
const RATE = Number(process.env.SOAK_RATE ?? 0);
const BREAK_EVERY_MS = 20_000;
const SAMPLE_EVERY_MS = 2_000;
/** Maximum growth between the second and the last quarter; the first is the warm-up. */
const GROWTH_MAX = 1.15;
const FUZZ_MS = Number(process.env.SOAK_FUZZ_SECONDS ?? 60) * 1000;
const TRANSACTIONS = 2_000;
const SETTLE_MS_MAX = 20 * 60_000;
const SECRET = 'whk_0123456789abcdef0123456789abcdef';
const TOKEN = 'adm_0123456789abcdef0123456789abcdef';
const KEY = 'pk_0123456789abcdef';

async function soak(): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-soak-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const sandbox = stack.use(await startSandbox(home, { apiKey: KEY }));
  const port = await findFreePort();
  const env = {
    ...{ DATA_DIR: path.join(home, 'data'), PROVIDER_URL: sandbox.url, PROVIDER_API_KEY: KEY },
    ...{ WEBHOOK_SECRET: SECRET, ADMIN_TOKEN: TOKEN, WEBHOOK_GRACE: '10s', LOG_LEVEL: 'warn' },
  };
  let serve = await startServe(home, { env, port });
  stack.defer(() => serve[Symbol.asyncDispose]());
  const { url } = serve;
  const api = createApi(url, '/api/v1', TOKEN);

  const ids = await makePaid(createApi(sandbox.url, '', KEY));
  const { perSecond } = await load(port, { secret: SECRET, connections: CONNECTIONS, ms: PEAK_MS });
  const rate = RATE || Math.floor(perSecond / 2);
  say(`peak ${Math.round(perSecond)}/s: ${MINUTES} minutes at ${rate}/s`);
  const endMs = Date.now() + MINUTES * 60_000;
  const sending = send(url, ids, rate, endMs);
  const memory = sampleMemory(url, () => Date.now() < endMs);
  for (let turn = 0; Date.now() + BREAK_EVERY_MS < endMs; turn++) {
    await sleep(BREAK_EVERY_MS);
    if (!BREAKS) continue;
    if (turn % 2 === 0) {
      await killProgram(serve);
      serve = await startServe(home, { env, port });
    } else process.kill(Number(readFileSync(path.join(home, 'data/mariadb/server.pid'), 'utf8')), 'SIGKILL');
  }
  const answered = await sending;
  say(`${answered.size} answered 200; waiting until all is verified`);
  await untilVerified(api);
  const lost = await countLost(api, answered);
  const twice = await countTwice(api, ids);
  const fuzzEndMs = Date.now() + FUZZ_MS;
  const fuzzMemory = sampleMemory(url, () => Date.now() < fuzzEndMs);
  const fuzzSeed = randomInt(2 ** 31);
  const fuzzed = await fuzzReceiver(url, SECRET, fuzzSeed, () => Date.now() < fuzzEndMs);
  const fuzzLost = await countLost(api, fuzzed.kept);
  say(`lost ${lost}, booked twice ${twice}`);
  say(`fuzz of seed ${fuzzSeed}: ${fuzzed.requests} requests, ${fuzzed.wrong.length} wrong answers, lost ${fuzzLost}`);
  const grew = [
    BREAKS ? false : reportMemory('under load', await memory),
    reportMemory('under the fuzzing', await fuzzMemory),
  ];
  return lost + twice + fuzzLost + fuzzed.wrong.length === 0 && !grew.includes(true);
}

type Sample = { residentMiB: number; heapMiB: number };

/** Samples the memory of the service, as its metrics report it; without samples while it is away. */
export async function sampleMemory(url: string, goesOn: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (goesOn()) {
    await sleep(SAMPLE_EVERY_MS);
    const text = await request(`${url}/metrics`).then(
      (response) => response.body.text(),
      () => '',
    );
    const read = (name: string): number =>
      Math.round(Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0) / 1024 ** 2);
    if (text)
      samples.push({
        residentMiB: read('process_resident_memory_bytes'),
        heapMiB: read('nodejs_heap_size_used_bytes'),
      });
  }
  return samples;
}

/** Prints the median of each quarter. @returns whether the last one is above the limit. */
export function reportMemory(when: string, samples: Sample[]): boolean {
  const quarters = [0, 1, 2, 3].map((quarter) => {
    const part = samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4);
    const median = (of: (sample: Sample) => number): number => quantile(part.map(of), 0.5);
    return { resident: median((one) => one.residentMiB), heap: median((one) => one.heapMiB) };
  });
  const [, second = { resident: 0 }, , last = { resident: 0 }] = quarters;
  const grew = last.resident > second.resident * GROWTH_MAX;
  const medians = quarters.map(({ resident, heap }) => `${resident} (heap ${heap})`).join(', ');
  say(`memory ${when}, MiB resident by quarter: ${medians}: ${grew ? 'GREW' : 'flat'}`);
  return grew;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

type Api = ReturnType<typeof createApi>;

async function makePaid(sandbox: Api): Promise<string[]> {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const transactions = Array.from({ length: TRANSACTIONS }, () => ({
    status: 'paid',
    date_created: `${day} 12:00:00`,
  }));
  const made = await sandbox.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
    transactions,
  });
  return made.transactions.map((one) => one.id);
}

/** Sends webhooks at a steady rate until the end. @returns the ids that were answered 200. */
async function send(url: string, ids: string[], rate: number, endMs: number): Promise<Set<string>> {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  const answered = new Set<string>();
  const sender = async (first: number): Promise<void> => {
    for (let n = first; Date.now() < endMs; n += CONNECTIONS) {
      const pause = sleep((CONNECTIONS * 1000) / rate);
      const body = makeBody(ids[n % ids.length]);
      try {
        const response = await agent.request({ origin: url, path: '/webhooks/pix', method: 'POST', headers, body });
        const { id } = (await response.body.json()) as { id: string };
        if (response.statusCode === 200) answered.add(id);
      } catch {
        // the service was killed: the provider would send it again
      }
      await pause;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => sender(index)));
  await agent.close();
  return answered;
}

async function untilVerified(api: Api): Promise<void> {
  for (const endMs = Date.now() + SETTLE_MS_MAX; Date.now() < endMs; await sleep(1_000)) {
    const page = await api
      .call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending&limit=1')
      .catch(() => undefined);
    if (page?.webhooks.length === 0) return;
  }
  throw new Error('some webhooks are not verified yet');
}

async function countLost(api: Api, ids: Set<string>): Promise<number> {
  const left = new Set(ids);
  for (let cursor: string | null = ''; cursor !== null && left.size > 0; ) {
    const page: { webhooks: { id: string }[]; next_cursor: string | null } = await api.call(
      'GET',
      `/webhooks?limit=200${cursor ? `&cursor=${cursor}` : ''}`,
    );
    for (const { id } of page.webhooks) left.delete(id);
    cursor = page.next_cursor;
  }
  return left.size;
}

/** Counts transactions without exactly one entry for their payment, independent of the number of their webhooks. */
async function countTwice(api: Api, ids: string[]): Promise<number> {
  let wrong = 0;
  for (const id of ids) {
    const { entries } = await api.call<{ entries: unknown[] }>('GET', `/transactions/${id}`);
    if (entries.length !== 1) wrong++;
  }
  return wrong;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit((await soak()) ? 0 : 1);
