import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Call, type MerchantServer, openMerchantServer } from '../support/open-merchant-server.ts';
import { runCommand } from '../support/run-command.ts';
import { SECRET_KEY, type Served, startSandbox, startServe, temporaryDirectory } from '../support/start-serve.ts';
import { type Cluster, type ClusterNode, queryNode, startCluster } from './start-cluster.ts';

const PAYMENTS = 400;
const SENDERS = 6;
/** Number of webhooks that each replica accepts in each state of the cluster. */
const ANSWERED_EACH_MIN = 100;
const RUN_POLL_MS = 250;
/** A frozen node does not answer. */
const ANSWER_MS_MAX = 2_000;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let cluster: Cluster;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let shop: MerchantServer;
let replicas: Served[];

const urlOf = (...hosts: ClusterNode[]) => {
  const [first, ...others] = hosts.map((node) => `127.0.0.1:${node.port}`);
  return `mysql://root@${first}/confere${others.length > 0 ? `?hosts=${others.join(',')}` : ''}`;
};

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  cluster = stack.use(await startCluster());
  const [a, b, c] = cluster.nodes;
  await queryNode(a.port, 'CREATE DATABASE confere CHARACTER SET utf8mb4');
  sandbox = stack.use(await startSandbox(home.path, ['--history', '2', '--per-day', '300']));
  shop = stack.use(await openMerchantServer());
  // the manual advises one order for all: with two, nothing but their agreement leads both to one node
  const urls = [urlOf(a, b, c), urlOf(b, c, a)];
  const env = { WEBHOOK_GRACE: '10s', LOG_LEVEL: 'info' };
  expect(await runCommand(['migrate'], envOf(urls[0] ?? ''))).toMatchObject({ code: 0 });
  replicas = [];
  for (const [index, databaseUrl] of urls.entries()) {
    const own = path.join(home.path, `replica-${index}`);
    mkdirSync(own);
    // one spools webhooks while its node stalls, the other answers 503
    const spool: Record<string, string> = index === 0 ? { SPOOL_DIR: path.join(own, 'spool') } : {};
    replicas.push(
      stack.use(await startServe({ home: own, databaseUrl, providerUrl: sandbox.url, env: { ...env, ...spool } })),
    );
  }
}, 180_000);
afterAll(() => stack.disposeAsync(), 60_000);

const envOf = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEY,
  DATA_DIR: path.join(home.path, 'data'),
});

/** Makes new payments at the provider, and sends webhooks of new and older ones to both replicas until stopped. */
function load() {
  let going = true;
  const ids: string[] = [];
  const answered = new Set<string>();
  const counts = replicas.map(() => 0);
  const paying = (async () => {
    while (going && ids.length < PAYMENTS) {
      const made = await sandbox.api.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
        transactions: Array.from({ length: 4 }, () => ({ status: 'paid', operation: 'cashin' })),
      });
      ids.push(...made.transactions.map((one) => one.id));
      await sleep(200);
    }
  })();
  const sending = Array.from({ length: SENDERS }, async (_, sender) => {
    for (let n = 0; going; n++) {
      // the newest payments, sent to both replicas at once
      const transaction_id = ids.at(-1 - (n % 12));
      if (transaction_id) {
        const body = { id: n, transaction_id, status: 'paid', nonce: randomUUID() };
        const index = (n + sender) % replicas.length;
        const answer = await replicas[index]?.webhook(body).catch(() => undefined);
        if (answer?.status === 200) {
          answered.add(String(answer.json.id));
          counts[index] = (counts[index] ?? 0) + 1;
        }
      }
      await sleep(20);
    }
  });
  const reading = (async () => {
    for (let n = 0; going; n++) {
      const to = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
      const from = new Date(Date.now() - 51 * 3_600_000).toISOString().slice(0, 10);
      const api = replicas[n % replicas.length]?.api;
      const run = await api?.call<{ id: string }>('POST', '/reconciliations', { from, to }).catch(() => undefined);
      for (let state = 'queued'; going && ['queued', 'running'].includes(state); ) {
        await sleep(RUN_POLL_MS);
        const now = await api?.call<{ state: string }>('GET', `/reconciliations/${run?.id}`).catch(() => undefined);
        state = now?.state ?? 'unknown';
      }
    }
  })();
  return {
    ids,
    answered,
    /** Waits until each replica has accepted this many more webhooks. */
    async goOn() {
      const before = [...counts];
      const isDone = (count: number, index: number): boolean => count >= (before[index] ?? 0) + ANSWERED_EACH_MIN;
      await eventually('each replica takes webhooks', () => counts.every(isDone));
    },
    async stop() {
      going = false;
      await Promise.all([paying, reading, ...sending]);
    },
  };
}

test('two replicas write to one node at a time, while nodes are killed, cut off, frozen and come back', async () => {
  const [replica] = replicas as [Served];
  await replica.api.call('POST', '/merchants', { name: 'shop', url: `${shop.url}/a`, filter: {} });
  const work = load();
  const first = await waitForOneWriter(work);

  await first.kill();
  const second = await waitForOneWriter(work);
  await first.start();
  // nothing moves back to a node that is back
  expect((await waitForOneWriter(work)).name).toBe(second.name);

  await second.isolate(true);
  const third = await waitForOneWriter(work);
  await second.isolate(false);
  expect((await waitForOneWriter(work)).name).toBe(third.name);

  // a node that takes no writes is lost
  await second.kill();
  expect((await waitForOneWriter(work)).name).toBe(third.name);
  await second.start();

  // a node that hangs closes no connection: its pending statements are aborted
  third.freeze();
  const fourth = await waitForOneWriter(work);
  for (const one of replicas) {
    const answer = await one.webhook({ id: 1, transaction_id: work.ids[0], nonce: randomUUID() });
    expect(answer.status).toBe(200);
    await one.api.call('GET', '/transactions?limit=1');
  }
  await third.kill();
  await third.start();
  expect((await waitForOneWriter(work)).name).toBe(fourth.name);
  await eventually('payments', () => work.ids.length > 100);
  await work.stop();

  await waitForTheEnd(replica);
  const kept = await readAll(replica, 'webhooks');
  const applied = new Set(kept.filter((one) => one.state === 'applied').map((one) => one.id));
  expect(work.answered.size).toBeGreaterThan(500);
  expect([...work.answered].filter((id) => !applied.has(id))).toEqual([]);
  // each payment is booked once, and reported once
  expect(work.ids.length).toBeGreaterThan(100);
  for (const id of work.ids) {
    const { entries } = await replica.api.call<{ entries: unknown[] }>('GET', `/transactions/${id}`);
    expect([id, entries.length]).toEqual([id, 1]);
  }
  expectReportedOnce(shop.calls, work.ids);
  for (const node of cluster.nodes) expect(await examine(urlOf(node), 'books')).toMatchObject({ ok: true });
  const says = expect.stringContaining(`all processes write to 127.0.0.1:${fourth.port} (since `);
  expect(await examine(urlOf(...cluster.nodes), 'database')).toMatchObject({ ok: true, says });
  console.info(`${cluster.crashes.length} crashes of mariadbd of its own`);
}, 600_000);

/**
 * Waits until one node alone commits while both replicas accept webhooks, and it is the one that the processes agreed on: a
 * replica whose node stalls accepts webhooks into its spool, so its commits may be missing. A node that crashes by itself is
 * no writer either.
 * @returns that node.
 */
async function waitForOneWriter(work: ReturnType<typeof load>): Promise<ClusterNode> {
  return await eventually('one node takes all writes', async () => {
    const before = await Promise.all(cluster.nodes.map(countCommits));
    await work.goOn();
    const after = await Promise.all(cluster.nodes.map(countCommits));
    const writers = cluster.nodes.filter((_, index) => (after[index] ?? 0) > (before[index] ?? 0));
    const [writer] = writers;
    return writers.length === 1 && writer && (await readAgreed(writer)) === writer.port ? writer : undefined;
  });
}

/** The port of the writer that the processes agreed on, as a node knows it. */
async function readAgreed({ port }: ClusterNode): Promise<number> {
  const [row] = await queryNode(port, "SELECT value FROM confere.settings WHERE name = 'database_writer'");
  const value = row?.value as Buffer | undefined;
  const { host } = JSON.parse(value?.toString() ?? '{}') as { host?: string };
  return Number(host?.split(':').at(-1));
}

/** @returns the finding of `confere doctor` about one thing. */
async function examine(databaseUrl: string, check: string) {
  const doctor = await runCommand(['doctor', '--books', '--json'], envOf(databaseUrl));
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
  return findings.find((one) => one.check === check);
}

/** Number of transactions that clients of this node committed since its start; 0 if it does not answer. */
async function countCommits({ port }: ClusterNode): Promise<number> {
  const answer = queryNode(port, "SHOW STATUS LIKE 'wsrep_local_commits'").catch(() => []);
  const [row] = await Promise.race([answer, sleep(ANSWER_MS_MAX, [])]);
  return Number(row?.Value ?? 0);
}

/** Every accepted webhook is processed, also if its lease was held by a process that lost the database; then the rest. */
async function waitForTheEnd(replica: Served): Promise<void> {
  const isEmpty = async (what: 'webhooks' | 'callbacks'): Promise<boolean> => {
    const page = await replica.api.call<Record<typeof what, unknown[]>>('GET', `/${what}?state=pending&limit=1`);
    return page[what].length === 0;
  };
  await eventually('no webhook is pending', () => isEmpty('webhooks')).catch(async (error: unknown) => {
    const text = "SELECT * FROM confere.webhook_items WHERE state = 'pending' LIMIT 5";
    throw new Error(JSON.stringify(await queryNode(cluster.nodes[0].port, text)), { cause: error });
  });
  const to = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 4 * 86_400_000).toISOString().slice(0, 10);
  const { id: runId } = await replica.api.call<{ id: string }>('POST', '/reconciliations', { from, to });
  await eventually('the run is complete', async () => {
    const run = await replica.api.call<{ state: string }>('GET', `/reconciliations/${runId}`);
    return run.state === 'complete';
  });
  await eventually('no callback is pending', () => isEmpty('callbacks'));
}

async function readAll(served: Served, what: 'webhooks'): Promise<{ id: string; state: string }[]> {
  const all: { id: string; state: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Record<typeof what, typeof all> & { next_cursor: string | null } = await served.api.call(
      'GET',
      `/${what}?limit=200${cursor ? `&cursor=${cursor}` : ''}`,
    );
    all.push(...page[what]);
    cursor = page.next_cursor;
  }
  return all;
}

/** Expects the callback of the payment, each event under one id in all attempts, and in order. */
function expectReportedOnce(calls: Call[], ids: string[]): void {
  const byPayment = Map.groupBy(calls, (call) => call.json.data.transaction.id);
  for (const id of ids) {
    const names = new Map<number, Set<string>>();
    const list = byPayment.get(id) ?? [];
    for (const { headers, json } of list) {
      const { sequence } = json.data.transaction;
      names.set(sequence, (names.get(sequence) ?? new Set()).add(headers['webhook-id'] ?? ''));
    }
    const sequences = [...names.keys()];
    expect([id, sequences]).toEqual([id, sequences.toSorted((one, other) => one - other)]);
    expect([id, [...names.values()].map((under) => under.size)]).toEqual([id, sequences.map(() => 1)]);
    expect([id, list.some(({ json }) => json.data.transaction.status === 'paid')]).toEqual([id, true]);
  }
}
