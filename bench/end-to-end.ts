import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { type Programs, startPrograms } from '../demo/start-programs.ts';
import { type Figure, figure, quantile } from './figure.ts';
import { makeBody } from './receiver-load.ts';

const PER_SECOND = 200;
const SECONDS = Number(process.env.END_TO_END_SECONDS ?? 20);
const WARM_SECONDS = 3;
const CONNECTIONS = 64;
const WAIT_MS_MAX = 30_000;

/**
 * Time from the first byte of a webhook to the merchant's 200: received, verified by a fetch from a sandbox without latency,
 * booked, and delivered. `serve` runs web and worker in one process, at a steady rate.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const signal = new AbortController().signal;
  const programs = stack.use(await startPrograms({ home, seed: '1', rate: undefined, signal }));
  const arrivedMs = new Map<string, number>();
  const merchant = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString()) as Callback;
      response.end(() => {
        if (type === 'pix.cashin.paid') arrivedMs.set(data.transaction.id, performance.now());
      });
    });
  });
  await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    merchant.closeAllConnections();
    merchant.close();
  });
  const url = `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/`;
  await programs.app.call('POST', '/merchants', { name: 'bench', url, events_since: '2020-01-01T00:00:00Z' });
  const ids = await makePaid(programs, PER_SECOND * (SECONDS + WARM_SECONDS));
  const sentMs = await announce(programs, ids);
  for (const endMs = Date.now() + WAIT_MS_MAX; arrivedMs.size < ids.length && Date.now() < endMs; ) await sleep(50);
  const counted = ids.slice(PER_SECOND * WARM_SECONDS);
  const latencies = counted.flatMap((id) => {
    const [sent, arrived] = [sentMs.get(id), arrivedMs.get(id)];
    return sent === undefined || arrived === undefined ? [] : [arrived - sent];
  });
  // pages of the list verify a backlog at the start: they show transactions whose webhook has not arrived yet
  const early = latencies.filter((ms) => ms < 0);
  return [
    figure(`webhook to the merchant's 200 at ${PER_SECOND}/s, p50, ms`, quantile(latencies, 0.5), 30),
    figure(`webhook to the merchant's 200 at ${PER_SECOND}/s, p99, ms`, quantile(latencies, 0.99), 150),
    figure('of those webhooks, not delivered', counted.length - latencies.length, 0),
    figure(
      'of those webhooks, delivered before they arrived, because the list was read (else the figures say nothing)',
      early.length,
      0,
    ),
  ];
}

type Callback = { type: string; data: { transaction: { id: string } } };

async function makePaid({ sandbox }: Programs, count: number): Promise<string[]> {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const transactions = Array.from({ length: count }, () => ({
    ...{ operation: 'cashin', amount: '12.34', status: 'paid', date_created: `${day} 12:00:00` },
  }));
  const made = await sandbox.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
    transactions,
  });
  return made.transactions.map((one) => one.id);
}

/** Sends one webhook each 1/PER_SECOND, independent of the answers: a slow receiver does not slow the load down. */
async function announce({ app }: Programs, ids: string[]): Promise<Map<string, number>> {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${app.webhookSecret}`, 'content-type': 'application/json' };
  const sentMs = new Map<string, number>();
  const answers: Promise<void>[] = [];
  const beganMs = performance.now();
  for (const [index, id] of ids.entries()) {
    const dueMs = beganMs + (index * 1000) / PER_SECOND;
    await sleep(Math.max(0, dueMs - performance.now()));
    sentMs.set(id, performance.now());
    const post = agent.request({ origin: app.url, path: '/webhooks/pix', method: 'POST', headers, body: makeBody(id) });
    answers.push(post.then((response) => response.body.dump()));
  }
  await Promise.all(answers);
  await agent.close();
  return sentMs;
}
