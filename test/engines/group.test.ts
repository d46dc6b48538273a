import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { makeOfx } from '../support/make-ofx.ts';
import { runCommand } from '../support/run-command.ts';
import {
  ADMIN_TOKEN,
  SECRET_KEY,
  type Served,
  startSandbox,
  startServe,
  temporaryDirectory,
} from '../support/start-serve.ts';
import { type Group, type GroupNode, SCRIPT, startGroup } from './start-group.ts';

const ROUNDS = Number(process.env.ENGINE_ROUNDS ?? 1);
/** With MySQL's own settings instead of the advised ones. */
const IS_DEFAULT = process.env.ENGINE_SETTINGS === 'default';
const ADVISED = [
  ...['--group-replication-member-expel-timeout=0', '--group-replication-unreachable-majority-timeout=5'],
  '--group-replication-consistency=BEFORE_ON_PRIMARY_FAILOVER',
];
/** From the fault until a request that began after it was answered. A frozen host closes no connection. */
const GO_ON_MS_MAX = { kill: IS_DEFAULT ? 30_000 : 15_000, cut: IS_DEFAULT ? 30_000 : 15_000, freeze: 45_000 };
const SENDERS = 4;
const SEND_EVERY_MS = 60;
const BOOK_EVERY_MS = 200;
const REQUEST_MS_MAX = 60_000;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let group: Group;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let replicas: Served[];

const urlOf = (nodes: GroupNode[], database = 'confere') => {
  const [first, ...others] = nodes.map(({ port }) => `127.0.0.1:${port}`);
  return `mysql://root@${first}/${database}?hosts=${others.join(',')}`;
};
const envOf = (databaseUrl: string) => ({
  ...{ DATABASE_URL: databaseUrl, SECRET_KEY, DATA_DIR: path.join(home.path, 'data') },
});

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  group = stack.use(await startGroup(IS_DEFAULT ? [] : ADVISED));
  const [a, b, c] = group.nodes;
  await a.query('CREATE DATABASE confere CHARACTER SET utf8mb4');
  sandbox = stack.use(await startSandbox(home.path, ['--history', '2', '--per-day', '100']));
  // secondaries first: the order does not matter
  const urls = [urlOf([b, c, a]), urlOf([c, a, b])];
  expect(await runCommand(['migrate'], envOf(urls[0] ?? ''))).toMatchObject({ code: 0 });
  replicas = [];
  for (const [index, databaseUrl] of urls.entries()) {
    const own = path.join(home.path, `replica-${index}`);
    mkdirSync(own);
    // one spools webhooks during a fail-over, the other answers 503
    const spool: Record<string, string> = index === 0 ? { SPOOL_DIR: path.join(own, 'spool') } : {};
    const env = { WEBHOOK_GRACE: '10s', LOG_LEVEL: 'warn', ...spool };
    replicas.push(stack.use(await startServe({ home: own, databaseUrl, providerUrl: sandbox.url, env })));
  }
}, 300_000);
afterAll(() => stack.disposeAsync(), 60_000);

type Answer = { status: number; json: Record<string, unknown>; isLater: boolean };

/** Collects every fact that was answered with 2xx, by either replica or from the spool. */
function load(platform: string) {
  let going = true;
  const ids: string[] = [];
  const facts = { webhooks: new Set<string>(), adjustments: new Set<string>(), imports: new Set<string>() };
  const statuses: Record<string, number> = {};
  let lastBookedMs = 0;

  async function send(method: 'POST', target: string, body: object | string, n: number, key: string): Promise<Answer> {
    const response = await request(`${replicas[n % replicas.length]?.url}/api/v1${target}`, {
      ...{ method, headersTimeout: REQUEST_MS_MAX, bodyTimeout: REQUEST_MS_MAX },
      headers: {
        ...{ authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': key },
        'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const json = (await response.body.json()) as Record<string, unknown>;
    if (response.statusCode === 503) expect(response.headers['retry-after'], target).toBeDefined();
    // 409: the first attempt under this key is still at work
    return { status: response.statusCode, json, isLater: response.headers['retry-after'] !== undefined };
  }

  /** Repeats a request under its key, by turns at both replicas, as a client does that got no answer. */
  async function insist(target: string, body: object | string): Promise<number> {
    const key = randomUUID();
    for (let n = 0; going; n++) {
      const beganMs = performance.now();
      const answer = await send('POST', target, body, n, key).catch((error: Error) => ({
        status: 0,
        json: { error },
        isLater: true,
      }));
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (answer.status >= 500 && answer.status !== 503) throw new Error(`${target}: ${JSON.stringify(answer)}`);
      if (answer.status >= 200 && answer.status < 300) lastBookedMs = Math.max(lastBookedMs, beganMs);
      if (!answer.isLater) return answer.status;
      await sleep(BOOK_EVERY_MS);
    }
    return 0;
  }

  const paying = (async () => {
    while (going) {
      const made = await sandbox.api
        .call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
          transactions: [{ status: 'paid', operation: 'cashin', platform }],
        })
        .catch(() => undefined);
      if (made) ids.push(...made.transactions.map((one) => one.id));
      await sleep(500);
    }
  })();
  const sending = Array.from({ length: SENDERS }, async (_, sender) => {
    for (let n = 0; going; n++) {
      const transaction_id = ids.at(-1 - (n % 12));
      if (transaction_id) {
        const body = { id: n, transaction_id, status: 'paid', nonce: randomUUID() };
        const answer = await replicas[(n + sender) % replicas.length]?.webhook(body).catch(() => undefined);
        if (answer?.status === 200) facts.webhooks.add(String(answer.json.id));
        else if (answer) expect([answer.status, 503]).toContain(503);
      }
      await sleep(SEND_EVERY_MS);
    }
  });
  const day = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
  const booking = (async () => {
    for (let n = 0; going; n++) {
      const note = `fact ${n}`;
      const body = { platform, day, kind: 'bank', amount: `-${n + 1}.00`, note, new_platform: true };
      const status = await insist('/adjustments', body);
      if (status === 201) facts.adjustments.add(note);
      else if (status !== 0) throw new Error(`an adjustment was answered ${status}`);
      if (n % 5 === 0 && (await insist('/bank/imports', statementOf(n, day))) === 201) facts.imports.add(`f${n}`);
      await sleep(BOOK_EVERY_MS);
    }
  })();
  return {
    ...{ ids, facts, statuses },
    /** Waits until a request that began from now on was answered. @returns after how many milliseconds. */
    async goOn(): Promise<number> {
      const beganMs = performance.now();
      await eventually('writes go on', () => lastBookedMs > beganMs);
      return performance.now() - beganMs;
    },
    async stop() {
      going = false;
      await Promise.all([paying, booking, ...sending]);
    },
  };
}

/** With one line, which is matched with the adjustment of its amount. */
const statementOf = (n: number, day: string): string =>
  makeOfx({ number: '1-1', lines: [{ day, fitid: `f${n}`, amount: `${n + 1}.00`, memo: 'TED' }] });

async function findPrimary(): Promise<GroupNode> {
  return await eventually('a primary', async () => {
    const are = await Promise.all(group.nodes.map((node) => node.isPrimary()));
    return group.nodes[are.indexOf(true)];
  });
}

/** Waits until each node sees all three ONLINE: one that returns by itself may still believe that it never left. */
async function waitUntilWhole(): Promise<void> {
  for (const node of group.nodes) await node.waitUntilOnline(group.nodes.length);
}

/** All servers start again. The one with the most transactions founds the group, as docs/scaling.md says. */
async function foundAgain(): Promise<void> {
  for (const node of group.nodes) await node.launch();
  const sets = await Promise.all(
    group.nodes.map(async (node) =>
      String((await node.query('SELECT @@global.gtid_executed AS executed'))[0]?.executed),
    ),
  );
  for (const [index, node] of group.nodes.entries()) {
    const [row] = await node.query(
      `SELECT ${sets.map((set) => `GTID_SUBSET('${set.replaceAll(/\s/g, '')}', @@global.gtid_executed)`).join(' AND ')} AS most`,
    );
    if (row?.most !== 1) continue;
    await node.join(true);
    for (const [other, follower] of group.nodes.entries()) if (other !== index) await follower.join();
    return;
  }
  throw new Error('no node has all transactions');
}

const FAULTS = {
  kill: {
    begin: (node: GroupNode) => node.kill(),
    end: async (node: GroupNode) => {
      await node.launch();
      await node.join();
    },
  },
  freeze: { begin: async (node: GroupNode) => node.freeze(true), end: async (node: GroupNode) => node.freeze(false) },
  cut: { begin: async (node: GroupNode) => node.cut(true), end: async (node: GroupNode) => node.cut(false) },
};

test('every acknowledged fact is kept once while the primary is killed, frozen and cut off, and all nodes are killed', async () => {
  const [replica] = replicas as [Served, Served];
  const { platforms } = await eventually('a platform', async () => {
    const page = await sandbox.api.call<{ transactions: { platform: string }[] }>('POST', '/sandbox/transactions', {
      transactions: [{ status: 'paid', operation: 'cashin' }],
    });
    return { platforms: page.transactions.map((one) => one.platform) };
  });
  const work = load(platforms[0] ?? '');
  const took: Record<string, number[]> = { kill: [], freeze: [], cut: [], 'kill of all': [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { begin, end }] of Object.entries(FAULTS)) {
      await work.goOn();
      const primary = await findPrimary();
      console.info(name, primary.name);
      await begin(primary);
      const ms = await work.goOn();
      took[name]?.push(Math.round(ms / 100) / 10);
      expect([name, ms < GO_ON_MS_MAX[name as keyof typeof FAULTS]]).toEqual([name, true]);
      await end(primary);
      await waitUntilWhole();
    }
    await Promise.all(group.nodes.map((node) => node.kill()));
    await foundAgain();
    took['kill of all']?.push(Math.round((await work.goOn()) / 100) / 10);
  }
  await work.stop();
  await compareFacts(work, replica);
  await restoreElsewhere();
  const { webhooks, adjustments, imports } = work.facts;
  const counts = { webhooks: webhooks.size, adjustments: adjustments.size, imports: imports.size };
  console.info(JSON.stringify({ rounds: ROUNDS, took, counts, statuses: work.statuses }));
}, 3_600_000);

async function compareFacts({ facts }: ReturnType<typeof load>, replica: Served): Promise<void> {
  const primary = await findPrimary();
  await eventually('no webhook is pending', async () => {
    const page = await replica.api.call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending&limit=1');
    return page.webhooks.length === 0;
  });
  const read = (text: string) =>
    primary.query(`USE confere; ${text}`).then((rows) => (rows[1] ?? []) as unknown as Record<string, unknown>[]);
  const hashes = new Set(
    (await read('SELECT LEFT(LOWER(HEX(hash)), 32) AS id FROM webhooks')).map(({ id }) => `wh_${String(id)}`),
  );
  expect([...facts.webhooks].filter((id) => !hashes.has(id))).toEqual([]);
  const booked = (await read('SELECT CAST(note AS CHAR) AS note FROM adjustments')).map(({ note }) => String(note));
  expect([...facts.adjustments].filter((note) => booked.filter((one) => one === note).length !== 1)).toEqual([]);
  expect(new Set(booked).size).toBe(booked.length);
  const audited = (await read('SELECT CAST(action AS CHAR) AS action FROM audit')).map(({ action }) => String(action));
  const countOf = (action: string) => audited.filter((one) => one === action).length;
  expect(countOf('adjustments.create')).toBe(booked.length);
  const matched = await read(
    'SELECT CAST(t.fitid AS CHAR) AS fitid FROM bank_line_texts t JOIN bank_matches m ON m.line_seq = t.line_seq',
  );
  const kept = matched.map(({ fitid }) => String(fitid));
  expect([...facts.imports].filter((id) => kept.filter((one) => one === id).length !== 1)).toEqual([]);
  const url = urlOf(group.nodes.toReversed());
  const doctor = await runCommand(['doctor', '--books', '--json'], envOf(url));
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
  expect(findings.find(({ check }) => check === 'books')).toMatchObject({ ok: true });
  if (!IS_DEFAULT) expect(findings.find(({ check }) => check === 'hosts')).toMatchObject({ ok: true });
}

/** Backs the group up, and restores it into another database of it, with its secondaries first. */
async function restoreElsewhere(): Promise<void> {
  const bin = path.join(home.path, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'mysqldump'), `#!/bin/sh\nexec ${SCRIPT} run /usr/bin/mysqldump "$@"\n`, {
    mode: 0o755,
  });
  const PATH = `${bin}${path.delimiter}${process.env.PATH}`;
  const to = path.join(home.path, 'backup');
  const made = await runCommand(['backup', '--to', to], { ...envOf(urlOf(group.nodes)), PATH });
  expect(made).toMatchObject({ code: 0 });
  const env = { ...envOf(urlOf(group.nodes.toReversed(), 'restored')), DATA_DIR: path.join(home.path, 'restored') };
  expect(await runCommand(['restore', '--from', to], env)).toMatchObject({ code: 0 });
  const doctor = await runCommand(['doctor', '--books', '--json'], env);
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean }[] };
  expect(findings.find(({ check }) => check === 'books')).toMatchObject({ ok: true });
}
