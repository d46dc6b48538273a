/**
 * An upgrade without a stop: two processes of the previous release work under load while this version's `migrate` runs and its
 * `serve` takes their place, one after the other. It takes half a minute, so it runs in `npm run test:deep`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Database } from '../../../src/database/tables.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow, wallAgo } from '../../support/make-provider-rows.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { missesRelease, PREVIOUS, ROOT } from '../../support/previous-release.ts';
import { DEEP } from '../../support/property.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  API_KEY,
  SECRET_KEY,
  type Served,
  sendWebhook,
  startServe,
  temporaryDirectory,
  urlOf,
} from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const WEBHOOK_EVERY_MS = 20;
/** A balancer's usual health check is slower; its own draining then takes a process out first. */
const CHECK_EVERY_MS = 100;
/** Webhooks between two steps of the upgrade. */
const WEBHOOKS_EACH = 100;
/** What both versions must answer while they run side by side. */
const READ = [
  '/transactions',
  '/webhooks',
  '/mismatches',
  '/callbacks',
  '/reports',
  '/reconciliations',
  '/balances',
  '/merchants',
];

const missing = missesRelease();
const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const previousRoot = path.join(home.path, 'previous');
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let provider: TestProvider;
let merchant: MerchantServer;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  if (!DEEP || missing) return;
  mkdirSync(previousRoot);
  const archive = path.join(home.path, 'previous.tar');
  execFileSync('git', ['archive', '--output', archive, PREVIOUS.commit], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive, '-C', previousRoot]);
  // the packages of this version: the previous one's are among them, at the same or a later version
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(previousRoot, 'node_modules'));
  database = await createTestDatabase('empty');
  provider = stack.use(await new TestProvider(API_KEY).listen());
  merchant = stack.use(await openMerchantServer());
});
afterAll(() => stack.disposeAsync());

/** Starts `serve` of one of the two versions, each with a directory and a log of its own. */
async function start(name: string, root: string): Promise<Served> {
  const own = path.join(home.path, name);
  mkdirSync(own);
  return await startServe({
    home: own,
    databaseUrl: urlOf(database),
    providerUrl: provider.url,
    program: path.join(root, 'bin/confere'),
    // ticks every few seconds: those of both versions meet
    env: { JOB_WATCH: '*/3 * * * * *', JOB_RECONCILE_RECENT: '*/5 * * * * *', WEBHOOK_GRACE: '20s' },
  });
}

/** Sends each webhook to a process whose last check was good, in turn, as a balancer does; and never again. */
function openBalancer() {
  const members = new Map<Served, boolean>();
  const checks = setInterval(() => {
    for (const served of members.keys())
      void fetch(`${served.url}/readyz`).then(
        (answer) => members.has(served) && members.set(served, answer.ok),
        () => members.has(served) && members.set(served, false),
      );
  }, CHECK_EVERY_MS);
  let turn = 0;
  return {
    add: (served: Served) => members.set(served, true),
    remove: (served: Served) => members.delete(served),
    async send(body: object): Promise<string> {
      const ready = [...members].filter(([, isReady]) => isReady).map(([served]) => served);
      const served = ready[turn++ % ready.length];
      if (!served) return 'no process is ready';
      return await sendWebhook(served.url, body).then(
        ({ status, json }) => `${status} ${json.duplicate === true ? 'duplicate' : 'new'}`,
        (error: Error) => `${error.name} ${(error.cause as { code?: string } | undefined)?.code ?? error.message}`,
      );
    },
    [Symbol.dispose]: () => clearInterval(checks),
  };
}

/** Pays a new transaction every WEBHOOK_EVERY_MS, and sends its webhook. */
function startLoad(send: (body: object) => Promise<string>) {
  const sent: { id: string; outcome: Promise<string> }[] = [];
  let going = true;
  const running = (async () => {
    while (going) {
      const at = wallAgo(0);
      const events = ['paid', 'pending'].map((status) => ({ status, date_created: at }));
      const row = provider.put({ ...makeRow(), status: 'paid', date_created: at, events });
      sent.push({ id: row.id, outcome: send({ transaction_id: row.id, status: 'paid' }) });
      await sleep(WEBHOOK_EVERY_MS);
    }
  })();
  return {
    sent,
    /** Waits for further webhooks. */
    async more(): Promise<void> {
      const goal = sent.length + WEBHOOKS_EACH;
      await eventually(() => sent.length >= goal);
    },
    async stop(): Promise<void> {
      going = false;
      await running;
    },
  };
}

/** Stops a process with SIGTERM. @returns its exit code. */
async function stop(served: Served): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => served.program.child.once('exit', resolve));
  served.program.child.kill('SIGTERM');
  return await ended;
}

async function readAll(served: Served): Promise<void> {
  for (const target of READ) await served.api.call('GET', target);
}

/** The lines of a process's log at warn and above, but for work that its own SIGTERM ended. */
function readTroubles({ program }: Served): unknown[] {
  const lines = readFileSync(program.logFile, 'utf8').split('\n');
  return lines
    .filter((line) => line.startsWith('{') && !line.includes('"AbortError"'))
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
}

test('a rolling upgrade from the previous release loses and refuses no webhook, and notifies each event once', async ({
  skip,
}) => {
  if (!DEEP) skip('half a minute: npm run test:deep');
  if (missing) skip(missing);
  const old = [await start('old-1', previousRoot), await start('old-2', previousRoot)];
  for (const served of old) stack.use(served);
  await old[0]?.api.call('POST', '/merchants', { name: 'm', url: `${merchant.url}/m` });
  using balancer = openBalancer();
  for (const served of old) balancer.add(served);
  const load = startLoad((body) => balancer.send(body));
  await load.more();

  const env = { DATABASE_URL: urlOf(database), SECRET_KEY, DATA_DIR: path.join(home.path, 'data') };
  const migrated = await runCommand(['migrate'], env);
  expect(migrated).toMatchObject({ code: 0, err: '' });
  await load.more();
  const fresh: Served[] = [];
  for (const [index, replaced] of old.entries()) {
    const served = stack.use(await start(`new-${index + 1}`, ROOT));
    fresh.push(served);
    balancer.add(served);
    await load.more();
    for (const one of [...old.slice(index), ...fresh]) await readAll(one);
    expect(await stop(replaced)).toBe(0);
    balancer.remove(replaced);
    await load.more();
  }
  await load.stop();

  const outcomes = await Promise.all(load.sent.map(({ outcome }) => outcome));
  const counts = [...Map.groupBy(outcomes, (one) => one)].map(([outcome, all]) => [outcome, all.length]);
  expect(counts).toEqual([['200 new', load.sent.length]]);
  await using opened = openDatabase<Database>(database);
  const { db } = opened;
  const ids = load.sent.map(({ id }) => id);
  const notified = () => new Set(merchant.calls.map(({ json }) => `${json.data.transaction.id} ${json.type}`));
  await eventually('all events are notified', () => notified().size === 2 * ids.length);
  await eventually('all webhooks are applied', async () => {
    const rows = await db
      .selectFrom('webhooks')
      .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
      .groupBy('state')
      .execute();
    return rows.length === 1 && rows[0]?.state === 'applied' && Number(rows[0].count) === ids.length;
  });
  // each event under one id, and each id delivered once: nobody died
  expect(merchant.calls).toHaveLength(2 * ids.length);
  expect(new Set(merchant.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(2 * ids.length);
  const inOrder = [...Map.groupBy(merchant.calls, ({ json }) => json.data.transaction.id).values()].filter(
    ([first, second]) => first?.json.type === 'pix.cashin.pending' && second?.json.type === 'pix.cashin.paid',
  );
  expect(inOrder).toHaveLength(ids.length);

  const failed = await db
    .selectFrom('job_ticks')
    .select(['job', 'due_at', 'error'])
    .where('error', 'is not', null)
    .execute();
  // 0.1.0 records a tick that its own SIGTERM ends as failed; this version releases it
  expect(failed.filter(({ error }) => !error?.includes('"AbortError"'))).toEqual([]);
  expect(await db.selectFrom('alerts').select(['name', 'summary']).execute()).toEqual([]);
  expect(await db.selectFrom('mismatches').select(['kind', 'scope']).execute()).toEqual([]);
  for (const served of [...old, ...fresh]) expect(readTroubles(served), served.program.logFile).toEqual([]);
  const doctor = await runCommand(['doctor', '--books'], { ...env, DATA_DIR: path.join(home.path, 'new-1', 'data') });
  expect(doctor.out).toMatch(/^ok {4}books/m);
});
