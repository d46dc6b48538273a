import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { Agent } from 'undici';
import type { Programs } from '../demo/start-programs.ts';
import { type Figure, figure, QUICK, quantile } from './figure.ts';
import { makeBody } from './receiver-load.ts';
import { type Chain, startBullmq, startLimit, startOurs, startPgBoss } from './start-chain.ts';

const PER_SECOND = 200;
const ROUNDS = QUICK ? 1 : 3;
const SLICE_SECONDS = QUICK ? 4 : 15;
const WARM_SECONDS = QUICK ? 2 : 3;
const SUSTAIN_SECONDS = QUICK ? 3 : 60;
/** Webhooks on their way at once while a chain is measured at its peak: accepted and not yet delivered. */
const ON_THEIR_WAY = 256;
/** More than ours and its limit, or a queue, deliver in a second. */
const PEAK_PER_SECOND = { chain: 2_500, queue: 12_000 };
const CONNECTIONS = 64;
/** Webhooks sent alone, one a second: nothing shares their statements. */
const ALONE = QUICK ? 3 : 10;
const WAIT_MS_MAX = 30_000;
const CHUNK = 5_000;

export const quick = true;

/**
 * From the first byte of a webhook to the merchant's 200: ours, which verifies by a fetch from the sandbox, books and
 * delivers in order; its limit, which does one statement for each step and nothing else; and two queues that only accept and
 * post. All are on this machine, with the driver and the merchant.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const merchant = stack.use(await openMerchant());
  const { chain: ours, programs, socketPath } = await startOurs(stack, home, merchant.url);
  const limit = await startLimit(stack, { socketPath, merchantUrl: merchant.url, sandbox: programs.sandbox });
  const take = async (chain: Chain, count: number): Promise<string[]> =>
    chain === ours || chain === limit ? await makePaid(programs, count) : makeIds(count);

  const slices: Record<string, number[][]> = { ours: [], limit: [] };
  let statements = { before: await countStatements(socketPath), after: {} as Counts, webhooks: 0 };
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const chain of round % 2 === 0 ? [ours, limit] : [limit, ours]) {
      const ids = await take(chain, PER_SECOND * (SLICE_SECONDS + WARM_SECONDS));
      if (chain === ours && round === 0) statements.before = await countStatements(socketPath);
      const latencies = await announce(chain, merchant, ids);
      if (chain === ours && round === 0) {
        statements = { ...statements, after: await countStatements(socketPath), webhooks: ids.length };
      }
      const counted = latencies.slice(PER_SECOND * WARM_SECONDS);
      lost += counted.filter((ms) => !(ms >= 0)).length;
      slices[chain.name]?.push(counted.filter((ms) => ms >= 0));
    }
  }
  const figures = compareLatencies(slices, lost);
  figures.push(...describeStatements(statements));
  figures.push(...(await countAlone(ours, merchant, await take(ours, ALONE), socketPath)));

  const peers = [
    await startBullmq(stack, { home, merchantUrl: merchant.url, works: true }),
    await startPgBoss(stack, { home, merchantUrl: merchant.url, works: true }),
  ];
  const peaks = new Map<string, number>();
  for (const chain of [ours, limit, ...peers]) {
    const ids = await take(
      chain,
      (chain === ours || chain === limit ? PEAK_PER_SECOND.chain : PEAK_PER_SECOND.queue) * SUSTAIN_SECONDS,
    );
    peaks.set(chain.name, await sustain(chain, merchant, ids));
  }
  process.stderr.write(`  sustained: ${[...peaks].map(([name, rate]) => `${name} ${rate.toFixed(0)}/s`).join(', ')}\n`);
  const peak = (name: string): number => peaks.get(name) ?? 0;
  figures.push(
    figure('webhooks through the whole chain a second, sustained', peak('ours'), 1, 'least'),
    figure('… against the better queue', peak('ours') / Math.max(...peers.map(({ name }) => peak(name))), 2, 'least'),
    figure('… against the chain limit', peak('ours') / peak('limit'), 0, 'least'),
  );
  return figures;
}

function compareLatencies(slices: Record<string, number[][]>, lost: number): Figure[] {
  const of = (name: string, share: number): number =>
    quantile(
      (slices[name] ?? []).map((one) => quantile(one, share)),
      0.5,
    );
  const line = (name: string): string => `${name} p50 ${of(name, 0.5).toFixed(1)}, p99 ${of(name, 0.99).toFixed(1)} ms`;
  process.stderr.write(`  at ${PER_SECOND}/s: ${line('ours')}; ${line('limit')}\n`);
  const title = `webhook to the merchant's 200 at ${PER_SECOND}/s`;
  return [
    figure(`${title}, p50, ms`, of('ours', 0.5), 30),
    figure(`${title}, p99, ms`, of('ours', 0.99), 150),
    figure('… p50 against the chain limit', of('ours', 0.5) / of('limit', 0.5), 2),
    figure('… p99 against the chain limit', of('ours', 0.99) / of('limit', 0.99), 2.5),
    figure('of those webhooks, not delivered, or before they arrived (else the figures say nothing)', lost, 0),
  ];
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

const makeIds = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID());

async function makePaid({ sandbox }: Programs, count: number): Promise<string[]> {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const one = { operation: 'cashin', amount: '12.34', status: 'paid', date_created: `${day} 12:00:00` };
  const ids: string[] = [];
  while (ids.length < count) {
    const transactions = Array.from({ length: Math.min(CHUNK, count - ids.length) }, () => one);
    const made = await sandbox.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
      transactions,
    });
    ids.push(...made.transactions.map(({ id }) => id));
  }
  return ids;
}

function openSender({ url, secret }: Chain): { send(id: string): Promise<void>; close(): Promise<void> } {
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
 * Sends one webhook each 1/PER_SECOND, independent of the answers: a slow receiver does not slow the load down.
 * @returns ms from sending each to its arrival; NaN for one that did not arrive.
 */
async function announce(chain: Chain, merchant: Merchant, ids: string[]): Promise<number[]> {
  const sender = openSender(chain);
  const sentMs = new Map<string, number>();
  const answers: Promise<void>[] = [];
  const beganMs = performance.now();
  for (const [index, id] of ids.entries()) {
    await sleep(Math.max(0, beganMs + (index * 1000) / PER_SECOND - performance.now()));
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
async function sustain(chain: Chain, merchant: Merchant, ids: string[]): Promise<number> {
  const sender = openSender(chain);
  const beganMs = performance.now();
  const endMs = beganMs + SUSTAIN_SECONDS * 1000;
  let next = 0;
  let delivered = 0;
  const send = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const id = ids[next++];
      if (id === undefined) throw new Error(`${chain.name} was faster than its ${ids.length} webhooks`);
      await sender.send(id);
      await merchant.arrival(id);
      if (performance.now() < endMs) delivered++;
    }
  };
  const all = Promise.all(Array.from({ length: ON_THEIR_WAY }, send));
  const tooLate = sleep(SUSTAIN_SECONDS * 1000 + WAIT_MS_MAX, 'late', { ref: false });
  if ((await Promise.race([all, tooLate])) === 'late') throw new Error(`${chain.name} lost a webhook`);
  await sender.close();
  return delivered / SUSTAIN_SECONDS;
}

type Counts = Record<string, number>;

async function countStatements(socketPath: string): Promise<Counts> {
  const rows = await query(socketPath, 'SHOW GLOBAL STATUS');
  return Object.fromEntries(rows.map((row) => [String(row.Variable_name), Number(row.Value)]));
}

/** Commits are those of transactions; a statement outside of one that writes is a commit of its own. */
function describeStatements({
  before,
  after,
  webhooks,
}: {
  before: Counts;
  after: Counts;
  webhooks: number;
}): Figure[] {
  const each = (name: string): number => ((after[name] ?? 0) - (before[name] ?? 0)) / webhooks;
  const parts = [
    'Com_select',
    'Com_insert',
    'Com_update',
    'Com_delete',
    'Com_insert_select',
    'Com_begin',
    'Com_commit',
  ];
  process.stderr.write(`  a webhook: ${parts.map((name) => `${name} ${each(name).toFixed(2)}`).join(', ')}\n`);
  return [
    figure('statements for the whole way of a webhook, at 200/s', each('Questions'), 15),
    figure('… and commits of transactions', each('Com_commit'), 3),
  ];
}

/** Statements of a webhook that nothing shares, without those that an idle service sends in the same time. */
async function countAlone(ours: Chain, merchant: Merchant, ids: string[], socketPath: string): Promise<Figure[]> {
  const sender = openSender(ours);
  const before = await countStatements(socketPath);
  await sleep(ALONE * 1000);
  const idle = await countStatements(socketPath);
  for (const id of ids) {
    const pause = sleep(1000);
    await sender.send(id);
    await merchant.arrival(id);
    await pause;
  }
  const after = await countStatements(socketPath);
  await sender.close();
  const each = (name: string): number =>
    ((after[name] ?? 0) - 2 * (idle[name] ?? 0) + (before[name] ?? 0)) / ids.length;
  return [
    figure('statements for the whole way of a webhook that is alone', each('Questions'), 26),
    figure('… and commits of transactions', each('Com_commit'), 3),
  ];
}

async function query(socketPath: string, statement: string): Promise<RowDataPacket[]> {
  const connection = await mysql.createConnection({ socketPath, user: 'root' });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(statement);
    return rows;
  } finally {
    await connection.end();
  }
}
