import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENGINES_BIN } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand } from '../support/run-command.ts';
import { SECRET_KEY, type Served, startSandbox, startServe, temporaryDirectory } from '../support/start-serve.ts';
import { Load } from './load-replicas.ts';
import { type Group, type GroupNode, startGroup } from './start-group.ts';

const ROUNDS = Number(process.env.ENGINE_ROUNDS ?? 1);
const ROUND_MS_MAX = 900_000;
/** With MySQL's own settings instead of the advised ones. */
const IS_DEFAULT = process.env.ENGINE_SETTINGS === 'default';
const ADVISED = [
  ...['--group-replication-member-expel-timeout=0', '--group-replication-unreachable-majority-timeout=5'],
  '--group-replication-consistency=BEFORE_ON_PRIMARY_FAILOVER',
];
/** From the fault until a request that began after it was answered. */
const GO_ON_S_MAX = IS_DEFAULT ? 30 : 15;

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
  await Promise.all(group.nodes.map((node) => node.launch()));
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
    await Promise.all(group.nodes.filter((_, other) => other !== index).map((follower) => follower.join()));
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

test(
  'every acknowledged fact is kept once while the primary is killed, frozen and cut off, and all nodes are killed',
  async () => {
    const [replica] = replicas as [Served, Served];
    const { transactions } = await sandbox.api.call<{ transactions: { platform: string }[] }>(
      ...(['POST', '/sandbox/transactions', { transactions: [{ status: 'paid', operation: 'cashin' }] }] as const),
    );
    const work = new Load(replicas, transactions[0]?.platform ?? '');
    await work.start(sandbox);
    const took: Record<string, number[]> = { kill: [], freeze: [], cut: [], 'kill of all': [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, { begin, end }] of Object.entries(FAULTS)) {
        await work.goOn();
        const primary = await findPrimary();
        console.info(name, primary.name);
        await begin(primary);
        const ms = await work.goOn();
        took[name]?.push(Math.round(ms / 100) / 10);
        await end(primary);
        await waitUntilWhole();
      }
      await Promise.all(group.nodes.map((node) => node.kill()));
      await foundAgain();
      took['kill of all']?.push(Math.round((await work.goOn()) / 100) / 10);
    }
    await work.stop();
    expect(replicas.map(({ program: { child } }) => [child.exitCode, child.signalCode])).toEqual(
      replicas.map(() => [null, null]),
    );
    const counts = Object.entries(work.facts).map(([kind, facts]) => [kind, facts.length] as const);
    const facts = { webhooks: work.webhooks.size, ...Object.fromEntries(counts), audited: work.audited.length };
    console.info(JSON.stringify({ rounds: ROUNDS, took, facts, statuses: work.statuses }));
    await compareFacts(work, replica);
    await restoreElsewhere();
    const late = Object.values(took)
      .flat()
      .filter((seconds) => seconds > GO_ON_S_MAX);
    expect(late).toEqual([]);
  },
  ROUNDS * ROUND_MS_MAX,
);

/** Where each fact is stored, by the text that the client gave it. */
const STORED = {
  adjustments: 'SELECT note AS text FROM adjustments',
  lines: 'SELECT fitid AS text FROM bank_line_texts',
  ruleMatches:
    "SELECT t.fitid AS text FROM bank_line_texts t JOIN bank_matches m USING (line_seq) WHERE m.rule <> 'person'",
  matches: 'SELECT note AS text FROM bank_match_notes',
  closes: 'SELECT note AS text FROM month_closes',
  // without what was read
  audited:
    "SELECT CONCAT(action, ' ', target) AS text FROM audit WHERE actor <> 'command' AND action NOT IN ('bank.lines', 'webhooks.list')",
  webhooks: "SELECT CONCAT('wh_', LEFT(LOWER(HEX(hash)), 32)) AS text FROM webhooks",
} as const;

async function compareFacts({ facts, audited, webhooks }: Load, replica: Served): Promise<void> {
  const primary = await findPrimary();
  let last: unknown;
  const hasNone = async (): Promise<boolean> => {
    // the other replica may have answered after the fault, and this one not yet
    const page = await replica.api.call<{ webhooks: object[] }>('GET', '/webhooks?state=pending').catch(String);
    last = page;
    return typeof page === 'object' && page.webhooks.length === 0;
  };
  await eventually('no webhook is pending', hasNone).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(last)}`);
  });
  const read = async (kind: keyof typeof STORED): Promise<string[]> => {
    const [, rows] = await primary.query(`USE confere; ${STORED[kind]}`);
    // cast: the second statement's rows
    return (rows as unknown as { text: Buffer | string }[]).map(({ text }) => String(text)).sort();
  };
  for (const [kind, own] of Object.entries({ ...facts, audited }))
    expect([kind, await read(kind as keyof typeof STORED)]).toEqual([kind, own.toSorted()]);
  // a webhook may be stored without an answer
  const stored = new Set(await read('webhooks'));
  expect([...webhooks].filter((id) => !stored.has(id))).toEqual([]);
  for (const node of group.nodes) await node.query('SET GLOBAL group_replication_start_on_boot = ON');
  const doctor = await runCommand(['doctor', '--books', '--json'], envOf(urlOf(group.nodes.toReversed())));
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
  expect(findings.find(({ check }) => check === 'books')).toMatchObject({ ok: true });
  if (!IS_DEFAULT) expect(findings.find(({ check }) => check === 'hosts')).toMatchObject({ ok: true });
}

/** Backs the group up, and restores it into another database of it, with its secondaries first. */
async function restoreElsewhere(): Promise<void> {
  const PATH = `${ENGINES_BIN}${path.delimiter}${process.env.PATH}`;
  const to = path.join(home.path, 'backup');
  const made = await runCommand(['backup', '--to', to], { ...envOf(urlOf(group.nodes)), PATH });
  expect(made).toMatchObject({ code: 0 });
  const env = { ...envOf(urlOf(group.nodes.toReversed(), 'restored')), DATA_DIR: path.join(home.path, 'restored') };
  expect(await runCommand(['restore', '--from', to], env)).toMatchObject({ code: 0 });
  const doctor = await runCommand(['doctor', '--books', '--json'], env);
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean }[] };
  expect(findings.find(({ check }) => check === 'books')).toMatchObject({ ok: true });
}
