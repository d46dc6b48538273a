import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Call, type MerchantServer, openMerchantServer } from '../support/open-merchant-server.ts';
import { runCommand } from '../support/run-command.ts';
import { SECRET_KEY, type Served, startSandbox, startServe, temporaryDirectory } from '../support/start-serve.ts';
import { type ClusterNode, queryNode, startCluster } from './start-cluster.ts';

const PAYMENTS = 400;
const SENDERS = 6;
/** Number of webhooks that each replica accepts in each state of the cluster. */
const ANSWERED_EACH_MIN = 100;
const RUN_POLL_MS = 250;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let nodes: [ClusterNode, ClusterNode, ClusterNode];
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let shop: MerchantServer;
let replicas: Served[];

const urlOf = (...hosts: ClusterNode[]) => {
  const [first, ...others] = hosts.map((node) => `127.0.0.1:${node.port}`);
  return `mysql://root@${first}/confere?hosts=${others.join(',')}`;
};

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  const cluster = stack.use(await startCluster());
  nodes = cluster.nodes;
  await queryNode(nodes[0].port, 'CREATE DATABASE confere CHARACTER SET utf8mb4');
  sandbox = stack.use(await startSandbox(home.path, ['--history', '2', '--per-day', '300']));
  shop = stack.use(await openMerchantServer());
  const [a, b, c] = nodes;
  // each writes to another node, which the manual advises against, so that all possible conflicts occur
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

test('two replicas on two nodes keep one ledger, while nodes are killed, cut off, frozen and come back', async () => {
  const [first, second, third] = nodes;
  const [replica] = replicas as [Served];
  await replica.api.call('POST', '/merchants', { name: 'shop', url: `${shop.url}/a`, filter: {} });
  const work = load();
  await work.goOn();
  await eventually('conflicts', async () => (await countConflicts(first)) + (await countConflicts(second)) > 0);
  await second.kill();
  await work.goOn();
  await second.start();
  await work.goOn();
  await first.isolate(true);
  await first.waitUntilReady(false);
  await work.goOn();
  await first.isolate(false);
  await first.waitUntilReady(true);
  await work.goOn();
  await first.kill();
  await work.goOn();
  await first.start();
  await work.goOn();
  // a node that hangs closes no connection: its pending statements are aborted, and webhooks use another node
  second.freeze();
  await work.goOn();
  const answer = await replicas[1]?.webhook({ id: 1, transaction_id: work.ids[0], nonce: randomUUID() });
  expect(answer?.status).toBe(200);
  await replicas[1]?.api.call('GET', '/transactions?limit=1');
  await second.kill();
  await second.start();
  await work.goOn();
  await eventually('payments', () => work.ids.length > 100);
  await work.stop();

  // every accepted webhook is processed, also if its lease holder was killed
  await eventually(async () => {
    const page = await replica.api.call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending&limit=1');
    return page.webhooks.length === 0;
  });
  const to = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 4 * 86_400_000).toISOString().slice(0, 10);
  const { id: runId } = await replica.api.call<{ id: string }>('POST', '/reconciliations', { from, to });
  await eventually(async () => {
    const run = await replica.api.call<{ state: string }>('GET', `/reconciliations/${runId}`);
    return run.state === 'complete';
  });
  await eventually(async () => {
    const open = await replica.api.call<{ callbacks: unknown[] }>('GET', '/callbacks?state=pending&limit=1');
    return open.callbacks.length === 0;
  });

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
  for (const node of [first, second, third]) {
    const doctor = await runCommand(['doctor', '--books', '--json'], envOf(urlOf(node, first)));
    const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
    expect(findings.find((one) => one.check === 'books')).toMatchObject({ ok: true });
  }
}, 600_000);

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

/** Number of this node's transactions that failed certification against another node's since its start. */
async function countConflicts(node: ClusterNode): Promise<number> {
  const names = "('wsrep_local_bf_aborts', 'wsrep_local_cert_failures')";
  const rows = await queryNode(node.port, `SHOW STATUS WHERE Variable_name IN ${names}`);
  return rows.reduce((sum, row) => sum + Number(row.Value), 0);
}
