import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { readServerRecord } from '../embedded/find-running-server.ts';
import { workBackfills } from '../src/callbacks/backfill/work-backfills.ts';
import { startDelivery } from '../src/callbacks/deliver/deliver.ts';
import type { CallbackCause } from '../src/callbacks/queue/callback-rows.ts';
import { enqueueCallbacks } from '../src/callbacks/queue/enqueue-callbacks.ts';
import { readRecipients } from '../src/callbacks/queue/read-recipients.ts';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import { transact } from '../src/database/transact.ts';
import { createLog } from '../src/log.ts';
import { createMerchant, setMerchantState } from '../src/merchants/change-merchants.ts';
import type { FilterInput } from '../src/merchants/match-filter.ts';
import { type Figure, figure, QUICK } from './figure.ts';
import { readCpuUs } from './read-cpu.ts';

const FAST_MERCHANTS = 20;
const PAYMENTS = QUICK ? 200 : 1_000;
const IN_FLIGHT = 320;
const LATENCY_PAYMENTS_IDLE = QUICK ? 30 : 100;
/** The share of the callbacks a second that ours delivers in this run. */
const LATENCY_SHARE = 0.1;
const LATENCY_SECONDS = QUICK ? 2 : 4;
const LATENCY_ROUNDS = QUICK ? 1 : 3;
/** Payments from before the merchants, and their references: a new merchant's backfill of them outlasts a round. */
const PAST_PAYMENTS = QUICK ? 2_000 : 20_000;
const PAST = 'past';
const BODY_BYTES = 900;
const CHUNK_PAYMENTS = 100;

export const quick = true;

/** Figures of callbacks: throughput, the cost of a bad merchant for the others, and the time to the first attempt. */
export async function run(): Promise<Figure[]> {
  const shop = await openShop();
  const environment = await openEnvironment();
  try {
    const before = await postPlainly(shop, FAST_MERCHANTS * PAYMENTS);
    const { context } = environment;
    for (let made = 0; made < PAST_PAYMENTS; made += CHUNK_PAYMENTS) await pay(context, CHUNK_PAYMENTS, PAST);
    await addMerchant(context, `${shop.url}/fast/0`);
    const idle = await measureLatency(context, shop, { perSecond: 10, count: LATENCY_PAYMENTS_IDLE });
    for (let i = 1; i < FAST_MERCHANTS; i++) await addMerchant(context, `${shop.url}/fast/${i}`);
    const ours = await deliverAll(context, shop);
    // before and after, so that other load of the machine affects both sides
    const plain = (before + (await postPlainly(shop, FAST_MERCHANTS * PAYMENTS))) / 2;
    const perSecond = (LATENCY_SHARE * ours.perSecond) / FAST_MERCHANTS;
    const load = { perSecond, count: Math.ceil(perSecond * LATENCY_SECONDS) };
    const bad = [await addMerchant(context, `${shop.url}/slow`), await addMerchant(context, 'http://127.0.0.1:1/dead')];
    const alone: number[] = [];
    const beside: number[] = [];
    // alternating, so that other load of the machine affects both sides
    for (let round = 0; round < LATENCY_ROUNDS; round++) {
      for (const id of bad) await setMerchantState(context, id, 'paused');
      alone.push((await measureLatency(context, shop, load)).p99);
      for (const id of bad) await setMerchantState(context, id, 'enabled');
      beside.push((await measureLatency(context, shop, load)).p99);
    }
    for (const id of bad) await setMerchantState(context, id, 'paused');
    const { quiet, filling, backfilled } = await measureBesideBackfills(context, shop, load);
    return [
      figure('callbacks delivered a second to 20 merchants', ours.perSecond, 1_500, 'least'),
      figure('… against plain undici posting the same bodies', ours.perSecond / plain, 0.5, 'least'),
      figure('… time of the database server for each, µs', ours.databaseUs, 80, 'most'),
      figure('… of them missing', ours.missing, 0, 'most'),
      figure('… of them repeated', ours.repeated, 0, 'most'),
      figure('event to first attempt when idle, p50, ms', idle.p50, 10, 'most'),
      figure('event to first attempt at 10 % of these, p99, ms', mean(alone), 100, 'most'),
      figure('p99 of the others beside a dead and a slow merchant, times', mean(beside) / mean(alone), 1.2, 'most'),
      figure('p99 of the others beside a backfill, times', mean(filling) / mean(quiet), 1.2, 'most'),
      figure('… callbacks of backfills delivered in its rounds', backfilled, 1_000, 'least'),
    ];
  } finally {
    await environment[Symbol.asyncDispose]();
    shop.close();
  }
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

type Arrival = { path: string; id: string; atMs: number };
type Shop = { url: string; count(): Promise<number>; take(): Promise<Arrival[]>; close(): void };

async function openShop(): Promise<Shop> {
  const child = fork(fileURLToPath(new URL('programs/callbacks-merchant.ts', import.meta.url)), { stdio: 'inherit' });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async <T>(what: string): Promise<T> => {
    child.send(what);
    const [answer] = (await once(child, 'message')) as [T];
    return answer;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    count: async () => (await ask<{ count: number }>('count')).count,
    take: async () => (await ask<{ arrivals: Arrival[] }>('take')).arrivals,
    close: () => child.disconnect(),
  };
}

async function openEnvironment(): Promise<{ context: Context } & AsyncDisposable> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  const config = readConfig({ DATA_DIR: dataDir, CALLBACK_ALLOW_PRIVATE: 'true' });
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function addMerchant(
  context: Context,
  url: string,
  past: { eventsSince?: Date; filter?: FilterInput } = {},
): Promise<string> {
  const { merchant } = await createMerchant(context, { name: 'bench', url, ...past });
  return merchant.id;
}

/** The limit of this machine and client: bodies and headers of the same size at the same concurrency, nothing else. */
async function postPlainly(shop: Shop, count: number): Promise<number> {
  const agent = new Agent({ pipelining: 1 });
  const body = JSON.stringify({ filler: randomBytes(BODY_BYTES).toString('base64').slice(0, BODY_BYTES) });
  let left = count;
  const post = async (): Promise<void> => {
    while (left-- > 0) {
      const path = `/fast/${left % FAST_MERCHANTS}`;
      const headers = { ...PLAIN_HEADERS, 'webhook-id': `msg_${left}` };
      const response = await agent.request({ origin: shop.url, path, method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, post));
  const perSecond = (count * 1000) / (performance.now() - startedMs);
  await agent.close();
  await shop.take();
  return perSecond;
}

const PLAIN_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Confere (callbacks; Standard Webhooks)',
  'webhook-timestamp': '1795258800',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

type Delivered = { perSecond: number; databaseUs: number; missing: number; repeated: number };

async function deliverAll(context: Context, shop: Shop): Promise<Delivered> {
  for (let made = 0; made < PAYMENTS; made += CHUNK_PAYMENTS) await pay(context, CHUNK_PAYMENTS);
  const count = PAYMENTS * FAST_MERCHANTS;
  const { identity = '' } = readServerRecord(path.join(context.config.DATA_DIR, 'mariadb')) ?? {};
  const database = Number(identity.split(':', 1)[0]);
  const [startedMs, startedUs] = [performance.now(), readCpuUs(database)];
  await deliverWhile(context, async () => {
    while ((await shop.count()) < count) await sleep(20);
  });
  const perSecond = (count * 1000) / (performance.now() - startedMs);
  const databaseUs = (readCpuUs(database) - startedUs) / count;
  const arrivals = await shop.take();
  const distinct = new Set(arrivals.map((arrival) => arrival.id)).size;
  return { perSecond, databaseUs, missing: count - distinct, repeated: arrivals.length - distinct };
}

async function deliverWhile(context: Context, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const delivery = startDelivery({ ...context, signal: stop.signal });
  await work();
  stop.abort();
  await delivery;
}

async function countOpen(context: Context): Promise<number> {
  const row = await context.db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('callbacks.state', '=', 'pending')
    .where('merchants.url', 'like', '%/fast/%')
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Time from the commit of a callback to its arrival at a fast merchant. @returns `others`: what others got meanwhile. */
async function measureLatency(
  context: Context,
  shop: Shop,
  load: { perSecond: number; count: number },
): Promise<{ p50: number; p99: number; others: number }> {
  const committed = new Map<string, number>();
  await deliverWhile(context, async () => {
    const startedMs = performance.now();
    for (let i = 0; i < load.count; i++) {
      const id = await pay(context, 1, 'now');
      committed.set(id, Date.now());
      const dueMs = startedMs + ((i + 1) * 1000) / load.perSecond;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    while ((await countOpen(context)) > 0) await sleep(50);
  });
  const made = await context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .select(['callbacks.webhook_id', 'transactions.id'])
    .where('transactions.id', 'in', [...committed.keys()])
    .execute();
  const madeAt = new Map(made.map((row) => [row.webhook_id, committed.get(row.id) ?? 0]));
  const all = await shop.take();
  const arrivals = all.filter(({ path, id }) => path.startsWith('/fast/') && madeAt.has(id));
  const latencies = arrivals.map((one) => Math.max(0, one.atMs - (madeAt.get(one.id) ?? 0))).sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), others: all.length - arrivals.length };
}

/** Alternates rounds without and with a backfill of a new merchant. */
async function measureBesideBackfills(
  context: Context,
  shop: Shop,
  load: { perSecond: number; count: number },
): Promise<{ quiet: number[]; filling: number[]; backfilled: number }> {
  const [quiet, filling]: [number[], number[]] = [[], []];
  let backfilled = 0;
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    quiet.push((await measureLatency(context, shop, load)).p99);
    const past = { eventsSince: new Date('2020-01-01T00:00:00Z'), filter: { reference_prefixes: [PAST] } };
    const added = await addMerchant(context, `${shop.url}/new/${round}`, past);
    const stop = new AbortController();
    const backfills = workBackfills({ ...context, signal: stop.signal });
    const { p99, others } = await measureLatency(context, shop, load);
    stop.abort();
    await backfills;
    await setMerchantState(context, added, 'paused');
    filling.push(p99);
    backfilled += others;
  }
  return { quiet, filling, backfilled };
}

/** Applies payments with their callbacks in the same transaction. @returns the last one's id. */
async function pay(context: Context, count: number, prefix = 'sale'): Promise<string> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const now = context.clock.now();
  const wall = context.calendar.toWallTime(now);
  await transact(context.db, async (trx) => {
    await trx
      .insertInto('transactions')
      .values(
        ids.map((id) => ({
          ...{ id, operation: 'cashin', status: 'paid', status_wall: wall, sequence: 1, event_count: 1 },
          ...{ amount_cents: 12_345n, commission_cents: 99n, created_wall: wall, digest: randomBytes(32) },
          ...{ reference: `${prefix}-${id}`, extra: '{"store":"12"}', asked_at: now, first_seen_at: now },
        })),
      )
      .execute();
    const rows = await trx.selectFrom('transactions').select(['seq', 'id']).where('id', 'in', ids).execute();
    await trx
      .insertInto('events')
      .values(
        rows.map(({ seq }) => ({
          ...{ transaction_seq: seq, status: 'paid', at_wall: wall, occurrence: 0, position: 0, sequence: 1 },
          ...{ inferred: 0, seen_at: now, source_kind: 'show' },
        })),
      )
      .execute();
    const events = await trx
      .selectFrom('events')
      .select(['seq', 'transaction_seq'])
      .where(
        'transaction_seq',
        'in',
        rows.map(({ seq }) => seq),
      )
      .execute();
    const eventOf = new Map(events.map((event) => [event.transaction_seq, event.seq]));
    const causes = rows.map(({ seq, id }): CallbackCause => {
      const facts = { reference: `${prefix}-${id}`, extra: '{"store":"12"}', platform: null };
      const event = { status: 'paid', at: now, atWall: wall, occurrence: 0, number: null, sequence: 1 };
      return {
        transaction: { seq, id, operation: 'cashin', ...facts },
        event: { seq: eventOf.get(seq) ?? 0, ...event },
        previousStatus: null,
        source: 'webhook',
      };
    });
    await enqueueCallbacks(context, trx, { causes, recipients: await readRecipients(trx) });
  });
  context.wakeUps.callbacks.notify();
  return ids.at(-1) ?? '';
}
