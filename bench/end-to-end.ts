import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Programs } from '../demo/start-programs.ts';
import { type Figure, figure, QUICK, quantile } from './figure.ts';
import { type Meter, openMeter, type Usage } from './meter.ts';
import { makeBody } from './receiver-load.ts';
import { type MeasuredChain, startBullmq, startLimit, startOurs, startPgBoss } from './start-chain.ts';

/** Shares of our capacity, as measured in this run, at which ours and its limit are driven. */
const SHARES = [0.1, 0.5];
const ROUNDS = QUICK ? 1 : 3;
const SLICE_SECONDS = QUICK ? 5 : 15;
/** Webhooks before each slice, of which round trips are counted. */
const COUNT_SECONDS = QUICK ? 2 : 4;
const CAPACITY_SECONDS = QUICK ? 4 : 10;
const SUSTAIN_SECONDS = QUICK ? 4 : 60;
/** Webhooks on their way at once while a chain is measured at its peak: accepted and not yet delivered. */
const ON_THEIR_WAY = 256;
/** More than ours and its limit, or a queue, deliver in a second. */
const PEAK_PER_SECOND = { chain: 2_500, queue: 12_000 };
const CONNECTIONS = 64;
/** After the last delivery: what was gathered is recorded by then, and sealed. */
const SETTLE_MS = 1_500;
const WAIT_MS_MAX = 30_000;
const CHUNK = 5_000;

export const quick = true;

/**
 * From the first byte of a webhook to the merchant's 200: ours, which verifies by a fetch from the sandbox, books and
 * delivers in order; its limit, which does one statement for each step and nothing else; and two queues that only accept and
 * post. All are on this machine, with the driver and the merchant. Rates are shares of the capacity that ours has in this run.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const merchant = stack.use(await openMerchant());
  const { chain: ours, programs, socketPath } = await startOurs(stack, home, merchant.url);
  const reached = { socketPath, databasePid: ours.pids.database, merchantUrl: merchant.url };
  const limit = await startLimit(stack, { ...reached, sandbox: programs.sandbox });
  const meter = stack.use(await openMeter(socketPath));
  const take = createTake(programs);

  // first those that warm the processes
  for (const chain of [limit, ours]) await sustain(chain, merchant, take, CAPACITY_SECONDS);
  const capacity = await sustain(ours, merchant, take, CAPACITY_SECONDS);
  const figures: Figure[] = [];
  for (const share of SHARES) {
    const slices = new Map<MeasuredChain, Slice[]>([ours, limit].map((chain) => [chain, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const chain of round % 2 === 0 ? [ours, limit] : [limit, ours])
        slices.get(chain)?.push(await drive(chain, { meter, merchant, take, perSecond: capacity * share }));
    figures.push(...compareSlices(share, capacity * share, slices.get(ours) ?? [], slices.get(limit) ?? []));
  }

  const peers = [
    await startBullmq(stack, { home, merchantUrl: merchant.url, works: true }),
    await startPgBoss(stack, { home, merchantUrl: merchant.url, works: true }),
  ];
  const peaks = new Map<string, Usage & { perSecond: number }>();
  for (const chain of [ours, limit, ...peers]) {
    const { result, ...usage } = await meter.measure(chain, 1, () => sustain(chain, merchant, take, SUSTAIN_SECONDS));
    const count = result * SUSTAIN_SECONDS;
    const each = Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value / count])) as Usage;
    peaks.set(chain.name, { ...each, perSecond: result });
    process.stderr.write(`  sustained: ${chain.name} ${result.toFixed(0)}/s, ${describeUsage(each)}\n`);
  }
  const peak = (chain: MeasuredChain): number => peaks.get(chain.name)?.perSecond ?? 0;
  const [used, least] = [peaks.get('ours'), peaks.get('limit')];
  figures.push(
    figure('webhooks through the whole chain a second, sustained', peak(ours), 1, 'least'),
    figure('… against the chain limit', peak(ours) / peak(limit), 0.55, 'least'),
    figure('… processor a webhook against the chain limit', sumCpu(used) / sumCpu(least), 1.8),
    figure('… against the better queue', peak(ours) / Math.max(...peers.map(peak)), 2, 'least'),
  );
  return figures;
}

type Slice = Usage & { roundTrips: number; p50: number; p99: number; lost: number };
type Take = (chain: MeasuredChain, count: number) => Promise<string[]>;
type Drive = { meter: Meter; merchant: Merchant; take: Take; perSecond: number };

/** Sends webhooks at a rate: some of which round trips are counted, then those that are measured. */
async function drive(chain: MeasuredChain, { meter, merchant, take, perSecond }: Drive): Promise<Slice> {
  const counted = await take(chain, Math.ceil(perSecond * COUNT_SECONDS));
  const ids = await take(chain, Math.ceil(perSecond * SLICE_SECONDS));
  const send = async (some: string[]): Promise<number[]> => {
    const latencies = await announce(chain, merchant, some, perSecond);
    await sleep(SETTLE_MS);
    return latencies;
  };
  const roundTrips = await meter.countRoundTrips(counted.length, () => send(counted));
  const { result, ...usage } = await meter.measure(chain, ids.length, () => send(ids));
  const arrived = result.filter((ms) => ms >= 0);
  const [p50, p99] = [quantile(arrived, 0.5), quantile(arrived, 0.99)];
  return { ...usage, roundTrips, p50, p99, lost: result.length - arrived.length };
}

function compareSlices(share: number, perSecond: number, ours: Slice[], limit: Slice[]): Figure[] {
  const [own, least] = [summarize(ours), summarize(limit)];
  const at = `at ${100 * share} % (${perSecond.toFixed(0)}/s)`;
  for (const [name, one] of Object.entries({ ours: own, limit: least }))
    process.stderr.write(
      `  ${at}: ${name} ${describeUsage(one)}, ${one.roundTrips.toFixed(1)} round trips, p50 ${one.p50.toFixed(1)}, p99 ${one.p99.toFixed(1)} ms\n`,
    );
  const lost = [...ours, ...limit].reduce((sum, one) => sum + one.lost, 0);
  return [
    figure(`${at}: processor a webhook against the chain limit`, sumCpu(own) / sumCpu(least), 3),
    figure('… p50 against the chain limit', own.p50 / least.p50, 2.5),
    figure('… p99 against the chain limit', own.p99 / least.p99, 2.5),
    figure('… statements for the whole way of a webhook', own.statements, 15),
    figure('… round trips', own.roundTrips, 12),
    figure('… commits of transactions', own.commits, 3),
    figure('… webhooks not delivered, or before they arrived (else the figures say nothing)', lost, 0),
  ];
}

/** The median of each figure. */
function summarize(slices: Slice[]): Slice {
  const median = (name: keyof Slice): number =>
    quantile(
      slices.map((one) => one[name]),
      0.5,
    );
  const names = Object.keys(slices[0] ?? {}) as (keyof Slice)[];
  return Object.fromEntries(names.map((name) => [name, median(name)])) as Slice;
}

function sumCpu(usage: Usage | undefined): number {
  return (usage?.serviceMs ?? 0) + (usage?.databaseMs ?? 0);
}

function describeUsage({ serviceMs, databaseMs, statements, commits }: Usage): string {
  const cpu = `processor ${serviceMs.toFixed(2)} + ${databaseMs.toFixed(2)} ms`;
  return `${cpu} a webhook, ${statements.toFixed(1)} statements, ${commits.toFixed(2)} commits`;
}

type Callback = { type: string; data: { transaction: { id: string } } };
type Merchant = AsyncDisposable & { url: string; arrivedMs: Map<string, number>; arrival(id: string): Promise<void> };

async function openMerchant(): Promise<Merchant> {
  const arrivedMs = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString()) as Callback;
      response.end(() => {
        if (type !== 'pix.cashin.paid') return;
        arrivedMs.set(data.transaction.id, performance.now());
        waiting.get(data.transaction.id)?.();
      });
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivedMs,
    arrival: async (id) => {
      if (!arrivedMs.has(id)) await new Promise<void>((resolve) => waiting.set(id, resolve));
      waiting.delete(id);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Makes ids; those of chains that ask the sandbox are its payments. */
function createTake({ sandbox }: Programs): Take {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const one = { operation: 'cashin', amount: '12.34', status: 'paid', date_created: `${day} 12:00:00` };
  return async (chain, count) => {
    if (chain.isQueue) return Array.from({ length: count }, () => crypto.randomUUID());
    const ids: string[] = [];
    while (ids.length < count) {
      const transactions = Array.from({ length: Math.min(CHUNK, count - ids.length) }, () => one);
      const made = await sandbox.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
        transactions,
      });
      ids.push(...made.transactions.map(({ id }) => id));
    }
    return ids;
  };
}

function openSender({ url, secret }: MeasuredChain): { send(id: string): Promise<void>; close(): Promise<void> } {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return {
    send: async (id) => {
      const body = makeBody(id);
      const answer = await agent.request({ origin: url, path: '/webhooks/pix', method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`a webhook was answered ${answer.statusCode}`);
    },
    close: () => agent.close(),
  };
}

/**
 * Sends webhooks at a rate, independent of the answers: a slow receiver does not slow the load down.
 * @returns ms from sending each to its arrival; NaN for one that did not arrive.
 */
async function announce(chain: MeasuredChain, merchant: Merchant, ids: string[], perSecond: number): Promise<number[]> {
  const sender = openSender(chain);
  const sentMs = new Map<string, number>();
  const answers: Promise<void>[] = [];
  const beganMs = performance.now();
  for (const [index, id] of ids.entries()) {
    await sleep(Math.max(0, beganMs + (index * 1000) / perSecond - performance.now()));
    sentMs.set(id, performance.now());
    const answer = sender.send(id);
    // awaited below; a rejection that nobody handles until then would end this process and leave the servers running
    answer.catch(() => undefined);
    answers.push(answer);
  }
  await Promise.all(answers);
  await sender.close();
  const isThere = (): boolean => ids.every((id) => merchant.arrivedMs.has(id));
  for (const endMs = Date.now() + WAIT_MS_MAX; !isThere() && Date.now() < endMs; ) await sleep(50);
  return ids.map((id) => (merchant.arrivedMs.get(id) ?? Number.NaN) - (sentMs.get(id) ?? 0));
}

/** Keeps ON_THEIR_WAY webhooks on their way: what is accepted is delivered, and nothing piles up. @returns a second. */
async function sustain(chain: MeasuredChain, merchant: Merchant, take: Take, seconds: number): Promise<number> {
  const ids = await take(chain, seconds * (chain.isQueue ? PEAK_PER_SECOND.queue : PEAK_PER_SECOND.chain));
  const sender = openSender(chain);
  const beganMs = performance.now();
  const endMs = beganMs + seconds * 1000;
  let delivered = 0;
  const send = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const id = ids.pop();
      if (id === undefined) throw new Error(`${chain.name} was faster than its webhooks`);
      await sender.send(id);
      await merchant.arrival(id);
      if (performance.now() < endMs) delivered++;
    }
  };
  const all = Promise.all(Array.from({ length: ON_THEIR_WAY }, send));
  const tooLate = sleep(seconds * 1000 + WAIT_MS_MAX, 'late', { ref: false });
  if ((await Promise.race([all, tooLate])) === 'late') throw new Error(`${chain.name} lost a webhook`);
  await sender.close();
  return delivered / seconds;
}
