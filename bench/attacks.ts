import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startPrograms } from '../demo/start-programs.ts';
import { genuineBody, postWebhook, type Target } from '../test/support/attack-receiver.ts';
import { measureDoors } from './attacks-doors.ts';
import { type Figure, figure, quantile } from './figure.ts';
import { ATTACKS } from './programs/attacks-worker.ts';

const SECONDS = 10;
const PER_SECOND = 20;
const GENUINE = '127.0.0.9';
const STRANGER = '127.0.0.66';
const OTHER_MS_MAX = 1_000;
const SAME_MS_MAX = 2_000;

/**
 * Latency of genuine webhooks during each attack from one address, and how many are not answered 200: those of another
 * address on kept-alive connections, and those of the attacker's own address, each on a new connection and repeated until
 * it is answered.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const signal = new AbortController().signal;
  const { app, sandbox } = stack.use(await startPrograms({ home, seed: '1', rate: undefined, signal }));
  const target = { port: Number(new URL(app.url).port), secret: app.webhookSecret };
  const figures: Figure[] = [];
  for (const attack of Object.keys(ATTACKS)) {
    const workerData = { attack, target: { ...target, from: STRANGER } };
    const worker = new Worker(new URL('./programs/attacks-worker.ts', import.meta.url), { workerData });
    await new Promise((resolve) => worker.once('message', resolve));
    const [other, same] = await Promise.all([
      measure({ ...target, from: GENUINE }, new Agent({ keepAlive: true }), 1),
      measure({ ...target, from: STRANGER }, undefined, SAME_MS_MAX),
    ]);
    await worker.terminate();
    figures.push(
      figure(
        `beside ${attack}: genuine webhooks of another address, p99, ms`,
        quantile(other.tookMs, 0.99),
        OTHER_MS_MAX,
      ),
      figure('… of them not answered 200', other.lost, 0),
      figure(
        '… genuine webhooks of the same address until answered, p99, ms',
        quantile(same.tookMs, 0.99),
        SAME_MS_MAX,
      ),
    );
  }
  return [...figures, ...(await measureDoors({ app, sandbox }))];
}

/** Sends one webhook each 1/PER_SECOND, independent of the answers. @param triesMs how long an unanswered one is repeated. */
async function measure(target: Target, agent: Agent | undefined, triesMs: number) {
  const tookMs: number[] = [];
  let lost = 0;
  const one = async (): Promise<void> => {
    const body = genuineBody(randomUUID());
    const beganMs = performance.now();
    do {
      const status = await postWebhook(target, body, agent).catch(() => 0);
      if (status === 200) {
        tookMs.push(performance.now() - beganMs);
        return;
      }
    } while (performance.now() - beganMs < triesMs);
    tookMs.push(performance.now() - beganMs);
    lost++;
  };
  const all: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let n = 0; n < SECONDS * PER_SECOND; n++) {
    await sleep(Math.max(0, beganMs + (n * 1000) / PER_SECOND - performance.now()));
    all.push(one());
  }
  await Promise.all(all);
  agent?.destroy();
  return { tookMs, lost };
}
